"""nbcc.engine"""
