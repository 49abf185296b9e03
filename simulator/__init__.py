"""nbcc.simulator"""
