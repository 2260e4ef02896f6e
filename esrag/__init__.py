"""Question answering over your own documents: every sentence cited and checked, or refused."""
