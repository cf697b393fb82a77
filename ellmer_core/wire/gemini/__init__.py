"""Gemini `generateContent`, at Google's Gemini API and at Vertex. https://ai.google.dev/api/generate-content"""
