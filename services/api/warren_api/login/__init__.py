"""Logging in at an identity provider (OpenID Connect); imported only where that is set up."""
