"""The service, embedded: speaks HTTP for the engine and keeps its journal."""
