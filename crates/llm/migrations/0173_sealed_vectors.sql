-- Vectors stood plain, under hashes of their texts that anybody can try guesses on. The hashes are keyed now and the vectors sealed; what was
-- kept is made anew when it is needed.
DELETE FROM embedding_cache;
