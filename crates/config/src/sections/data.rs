use crate::kinds::DataFolder;
use crate::section::section;

section! {
    /// Where Munshi keeps its files.
    Data in "data" {
        /// The folder for everything Munshi keeps; made on first run. `~` is your home folder. By default
        /// XDG_DATA_HOME is honoured, and without a home folder it is `./munshi-data`.
        dir: DataFolder = "~/.local/share/munshi",
    }
}
