"""Analecta grows a library on any topic from the web. The flow is drawn in docs/architecture.md."""

__version__ = "0.1.0"
