-- Whose a row is was told by a hash that anybody can try guesses on. It is keyed now; what was counted until then begins anew.
DELETE FROM rate_limits;
