"""The facts about providers: collected from recordings, drawn at random, and compared with their evidence."""
