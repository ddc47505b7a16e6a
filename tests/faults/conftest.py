def pytest_configure(config):
    # fastwarc 1.1 warns about its own old names when it is imported
    config.addinivalue_line("filterwarnings", "ignore:Use the new Reader and Writer classes:DeprecationWarning")
