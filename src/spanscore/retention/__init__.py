"""How long telemetry is kept, and where: archiving, purging, exporting, and the room that everything takes."""
