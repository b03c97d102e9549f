"""Egret's ticker and timer, with the repairs published for them."""
