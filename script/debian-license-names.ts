// The names that Debian's files `copyright` use for licenses that SPDX has, too.

/** SPDX's name, and the names that packages use for the same text. */
const used: Readonly<Record<string, string>> = {
  "0BSD": "0bsd",
  "AFL-2.0": "afl-2.0",
  "AFL-2.1": "afl-2.1",
  "Apache-2.0": "apache apache-2 apache-2.0 apache-2-llvm-exceptions",
  "Artistic-1.0-Perl": "artistic artistic-1",
  "Artistic-2.0": "artistic-2 artistic-2.0",
  Beerware: "beerware",
  "Bitstream-Vera": "bitstream-vera",
  "BSD-1-Clause": "bsd-1-clause",
  "BSD-2-Clause":
    "bsd-2 bsd-2-clause bsd-2-clause-author bsd-2-clause-netbsd bsd-2-clause-verbatim",
  "BSD-3-Clause":
    "bsd-3 bsd-3-clause bsd-3-clause-author bsd-3-clause-chromium bsd-3-clause-cmake " +
    "bsd-3-clause-cambridge bsd-3-clause-generic bsd-3-clause-google bsd-3-clause-intel " +
    "bsd-3-clause-john-birrell bsd-3-clause-kitware bsd-3-clause-pcre bsd-3-clause-regents " +
    "bsd-3-clause-fjord bsd-3-google chromium-bsd-style kissfftbsd",
  "BSD-3-Clause-Clear": "bsd-3-clause-clear",
  "BSD-4-Clause": "bsd-4-clause",
  "BSD-4-Clause-UC": "bsd-4-clause-uc",
  "BSL-1.0": "boost-1.0 bsl bsl-1 bsl-1.0",
  "bzip2-1.0.6": "bzip2-1.0.6",
  "CC-BY-3.0": "cc-by-3.0",
  "CC-BY-4.0": "cc-by-4.0",
  "CC-BY-SA-3.0": "cc-by-sa-3.0",
  "CC0-1.0": "cc0 cc0-1.0",
  FSFAP: "fsfap",
  FSFUL: "fsful",
  FSFULLR: "fsfullr",
  FTL: "ftl",
  "GFDL-1.3-no-invariants-or-later": "gfdl-1.3+-no-invariant",
  ICU: "icu",
  IJG: "ijg",
  ISC: "isc isc-license isc-original",
  "LGPL-2.1-or-later": "lpgl-2.1+",
  Libpng: "libpng",
  libtiff: "libtiff",
  MIT: "expat mit mit-1",
  "MPL-1.0": "mpl-1.0",
  "MPL-1.1": "mpl-1.1",
  "MPL-2.0": "mpl-2.0",
  "MS-PL": "ms-pl",
  NTP: "ntp",
  "OFL-1.1": "custom-sil-open-font-license ofl-1.1",
  "SGI-B-2.0": "sgi sgi-free-software-license-b",
  Sleepycat: "sleepycat",
  TCL: "tcl",
  "TU-Berlin-2.0": "tu-berlin-2.0",
  "Unicode-DFS-2016": "unicode-dfs-2016",
  Unlicense: "unlicense",
  WTFPL: "wtfpl-2",
  X11: "x11 mit/x11",
  Zlib: "zlib zlib/libpng",
  // SPDX has no name for works without copyright.
  "LicenseRef-public-domain":
    "pd public-domain public-domain-md4 public-domain-md5 public-domain-s-s-d public-domain-sha1",
};

/** SPDX's name for the lower-case name in a file `copyright`. */
export const spdxNames: ReadonlyMap<string, string> = new Map(
  Object.entries(used).flatMap(([spdx, names]) => names.split(" ").map((name) => [name, spdx])),
);
