"""Why a timer has not fired, or fired late."""
