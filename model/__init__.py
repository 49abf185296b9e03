"""nbcc.model"""
