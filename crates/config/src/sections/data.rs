use crate::kinds::{CountKind, DataFolderKind};
use crate::section::section;

section! {
    /// Where Munshi keeps its files.
    DataSection in "data" {
        /// The folder for everything Munshi keeps; made on first run. `~` is your home folder. By default
        /// XDG_DATA_HOME is honoured, and without a home folder it is `./munshi-data`.
        dir: DataFolderKind = "~/.local/share/munshi",
        /// After how many days a conversation goes from the database to files in `archive`, with what its tools were given
        /// and answered; a session that rests so long forgets its summary too. 0 keeps everything where it is.
        hot_days: CountKind<0, 36_500> = 90,
    }
}
