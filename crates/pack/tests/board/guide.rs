//! The code in `docs/packs.md` is the code of the pack beside this file, so it compiles and does what is said.

const GUIDE: &str = include_str!("../../../../docs/packs.md");
const PACK: &[&str] = &[include_str!("pack.rs"), include_str!("doors.rs")];

fn blocks() -> Vec<&'static str> {
    let rest = GUIDE.split("```rust\n").skip(1);
    rest.map(|rest| rest.split_once("```").expect("a block that ends").0).collect()
}

#[test]
fn every_block_of_the_guide_stands_in_the_pack() {
    assert!(blocks().len() >= 8, "{}", blocks().len());
    for block in blocks() {
        assert!(
            PACK.iter().any(|file| file.contains(block)),
            "docs/packs.md shows what the pack does not have:\n{block}"
        );
    }
}
