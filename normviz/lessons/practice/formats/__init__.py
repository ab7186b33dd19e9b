"""Sets of exercises as files of learning management systems: Moodle XML, QTI and Anki."""
