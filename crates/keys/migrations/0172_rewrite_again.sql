-- Tables that are emptied by this upgrade had plain bytes in them: the next start writes the file anew.
UPDATE sealed_by SET rewritten_at = NULL;
