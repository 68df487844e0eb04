//! The code in `docs/packs.md` is the code of the pack beside this file, so it compiles and does what is said.

const INSTALLER: &str = include_str!("../../src/installer.rs");
const GUIDE: &str = include_str!("../../../../docs/packs.md");
const PACK: &[&str] = &[include_str!("pack.rs"), include_str!("doors.rs"), include_str!("rounds.rs")];

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

#[test]
fn the_pack_uses_every_door_of_the_installer() {
    let doors = INSTALLER.split("\n    pub fn ").skip(1);
    let doors: Vec<&str> = doors.filter_map(|rest| rest.split(['(', '<']).next()).collect();
    assert!(doors.len() >= 20, "{doors:?}");
    let is_used = |door: &&str| {
        let calls = [format!("room.{door}("), format!("room.{door}::<")];
        PACK.iter().any(|file| calls.iter().any(|call| file.contains(call.as_str())))
    };
    let unused: Vec<&str> = doors.into_iter().filter(|door| !is_used(door)).collect();
    assert!(unused.is_empty(), "the sample pack does not use {unused:?}");
}
