//! The rows of words: which numbers of a block have one.

use munshi_store::{Error, JsonText, Result, Row, Tx, params};

use crate::number_set::NumberSet;

/// So many rows are counted at once.
const COUNTED: i64 = 4_096;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WordPosting {
    pub(crate) token: i64,
    pub(crate) block: i64,
    pub(crate) numbers: NumberSet,
}

/// Those of some tokens in the blocks from the first to the last.
pub(crate) fn load(tx: &mut Tx<'_>, tokens: &[i64], (first, last): (i64, i64)) -> Result<Vec<WordPosting>> {
    if tokens.is_empty() {
        return Ok(Vec::new());
    }
    let tokens = JsonText::of(&tokens)?;
    tx.all(
        (
            // In this order each row is one look into the index.
            "WITH RECURSIVE wanted(block) AS (
               SELECT $2 UNION ALL SELECT block + 1 FROM wanted WHERE block < $3)
             SELECT p.token, p.block, p.numbers
             FROM wanted CROSS JOIN json_each($4) AS t CROSS JOIN search_postings AS p
             WHERE p.tenant_id = $1 AND p.block = wanted.block AND p.token = t.value",
            "SELECT p.token, p.block, p.numbers FROM search_postings p
             WHERE p.tenant_id = $1 AND p.block >= $2 AND p.block <= $3
               AND p.token IN (SELECT value::bigint FROM jsonb_array_elements_text($4::jsonb))",
        ),
        params![first, last, tokens],
        read,
    )
}

/// How many numbers all words of a block have together.
pub(crate) fn count_numbers(tx: &mut Tx<'_>, block: i64) -> Result<usize> {
    let (mut count, mut after) = (0, i64::MIN);
    loop {
        let page: Vec<WordPosting> = tx.all(
            "SELECT token, block, numbers FROM search_postings
             WHERE tenant_id = $1 AND block = $2 AND token >= $3 ORDER BY token LIMIT $4",
            params![block, after, COUNTED],
            read,
        )?;
        count += page.iter().map(|posting| posting.numbers.len()).sum::<usize>();
        match page.last() {
            Some(last) if page.len() as i64 == COUNTED && last.token < i64::MAX => after = last.token + 1,
            _ => return Ok(count),
        }
    }
}

pub(crate) fn save(tx: &mut Tx<'_>, posting: &WordPosting) -> Result<()> {
    let WordPosting { token, block, numbers } = posting;
    if numbers.is_empty() {
        return tx.send(
            "DELETE FROM search_postings WHERE tenant_id = $1 AND token = $2 AND block = $3",
            params![*token, *block],
        );
    }
    tx.send(
        "INSERT INTO search_postings (tenant_id, token, block, numbers) VALUES ($1, $2, $3, $4)
         ON CONFLICT (tenant_id, token, block) DO UPDATE SET numbers = excluded.numbers",
        params![*token, *block, numbers.encode()],
    )
}

fn read(row: &Row<'_>) -> Result<WordPosting> {
    let stored: Vec<u8> = row.get("numbers")?;
    let numbers = NumberSet::decode(&stored);
    let numbers =
        numbers.ok_or_else(|| Error::Decode("a posting of the search index is damaged".to_owned()))?;
    Ok(WordPosting { token: row.get("token")?, block: row.get("block")?, numbers })
}
