import assert from "node:assert/strict";
import { test } from "node:test";
import {
  checkMediaUrl,
  isAddressAllowed,
  isPortAllowedAt,
  notPublic,
  parseMediaAllowList,
} from "./media-url.ts";
import { plainAddress } from "./public-address.ts";

const nothing = parseMediaAllowList([]);

test("checkMediaUrl() refuses every spelling of a non-public address", () => {
  const hosts = `
    127.0.0.1 127.0.0.1. 127.1 127.0.1 2130706433 0x7f000001 0x7f.1 0177.0.0.1 017700000001
    0x7F.0.0.0x1 127.000.000.001 ①②⑦.⓪.⓪.① 127。0。0。1 %31%32%37.0.0.1 １２７.0.0.1 0 0.0.0.0 0x0
    255.255.255.255 224.0.0.1 10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.1.1
    0xa9fea9fe 100.64.0.1 169.254.169.254 2852039166 192.0.2.1 198.18.0.1 203.0.113.1 [::1]
    [::] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::7f00:1] [fe80::1] [fc00::1]
    [fd00:ec2::254] [ff02::1] [64:ff9b::7f00:1] [64:ff9b::a00:1] [2002:7f00:1::] [2001::1]
    [2001:db8::1] [100::1] [64:ff9b:1::a00:1] [5f00::1] [fec0::1] [::ffff:a9fe:a9fe]
    localhost LOCALHOST localhost. a.localhost loc%61lhost 240.0.0.1 192.88.99.1
    [::ffff:0:10.0.0.1]
  `
    .trim()
    .split(/\s+/);
  assert.ok(hosts.length >= 60);
  for (const host of hosts) {
    for (const scheme of ["http", "https"]) {
      assert.equal(checkMediaUrl(`${scheme}://${host}/a.wav`, nothing), notPublic, host);
    }
  }
});

test("checkMediaUrl() accepts public hosts and addresses", () => {
  const urls = [
    "https://media.example/a.wav",
    "http://media.example:80/a.wav?signature=a%20b#t=1",
    "https://media.example:443/",
    "HTTPS://Media.Example/a",
    "https://8.8.8.8/a",
    "https://[2606:4700::1111]/a",
    "https://[::ffff:8.8.8.8]/a",
    "https://bókasafn.example/hljóð.wav",
  ];
  for (const url of urls) assert.equal(checkMediaUrl(url, nothing), undefined, url);
});

test("checkMediaUrl() describes what is wrong with a URL", () => {
  const rows: readonly (readonly [string, RegExp])[] = [
    ["", /^must begin with https/],
    ["media.example/a.wav?secret", /^must begin with https/],
    ["//media.example/a.wav", /^must begin with https/],
    ["file:///etc/passwd", /^begins with "file:": it must begin with https/],
    ["ftp://user:secret@media.example/a.wav", /^begins with "ftp:": /],
    ["gopher://media.example/", /^begins with "gopher:": /],
    ["javascript:alert(1)", /^begins with "javascript:": /],
    ["concat:/etc/passwd|/etc/hosts", /^begins with "concat:": /],
    ["data:audio/wav;base64,AAAA", /^begins with "data:": /],
    ["blob:https://media.example/secret", /^begins with "blob:": /],
    ["pipe:0", /^begins with "pipe:": /],
    ["-i", /^must begin with https/],
    ["http://", /^has an invalid host or port$/],
    ["http://media.example:99999/", /^has an invalid host or port$/],
    ["http://1.2.3.4.5/", /^has an invalid host or port$/],
    ["http://[fe80::1%25eth0]/", /^has an invalid host or port$/],
    ["http://a b/?secret", /^contains " ": spaces, .* not allowed/],
    ["http://media.example/\0", /^contains "\\u0000": spaces, .* not allowed/],
    ["ht\ntp://media.example/", /spaces, .* not allowed/],
    ["http://127.0.0.1\t.example/", /spaces, .* not allowed/],
    ["http:\\\\media.example\\a", /spaces, .* not allowed/],
    ["http://user@media.example/", /user name or password/],
    ["http://user:secret@media.example/", /user name or password/],
    ["http://good.example@127.0.0.1/", /user name or password/],
    ["http://media.example:22/?secret", /^has the port 22: only 80 and 443 are allowed$/],
    ["https://media.example:6379/", /port 6379/],
    ["https://8.8.8.8:8080/", /port 8080/],
    [`http://media.example/${"a".repeat(8192)}`, /8213 characters; at most 8192/],
  ];
  for (const [url, message] of rows) {
    const found = checkMediaUrl(url, nothing) ?? "";
    assert.match(found, message, url);
    assert.doesNotMatch(found, /secret/);
  }
});

test("parseMediaAllowList() allows networks, addresses and hosts, and nothing else", () => {
  const allow = parseMediaAllowList([
    "10.1.0.0/16",
    "127.0.0.1",
    "fd00:1::/32",
    "Media.Internal",
    "::1",
  ]);
  const rows: readonly (readonly [string, string, boolean])[] = [
    ["a.example", "10.1.2.3", true],
    ["a.example", "10.2.0.1", false],
    ["a.example", "::ffff:10.1.0.1", true],
    ["a.example", "127.0.0.1", true],
    ["a.example", "127.0.0.2", false],
    ["a.example", "fd00:1::7", true],
    ["a.example", "fd00:2::7", false],
    ["a.example", "::1", true],
    ["media.internal", "192.168.0.1", true],
    ["media.internal.", "192.168.0.1", true],
    ["sub.media.internal", "192.168.0.1", false],
    ["xmedia.internal", "192.168.0.1", false],
    ["a.example", "8.8.8.8", true],
    ["a.example", "not an address", false],
  ];
  for (const [host, address, isAllowed] of rows) {
    const target = { host, port: 8080 };
    assert.equal(isAddressAllowed(target, address, allow), isAllowed, `${host} ${address}`);
  }
  assert.equal(checkMediaUrl("http://127.0.0.1:8080/a", allow), undefined);
  assert.equal(checkMediaUrl("http://media.internal:9000/a", allow), undefined);
  assert.equal(checkMediaUrl("http://127.0.0.2:8080/a", allow), notPublic);
});

test("parseMediaAllowList() allows only the given port if an entry names one", () => {
  const allow = parseMediaAllowList([
    "10.1.0.0/16:9000",
    "[fd00:1::/32]:9000",
    "[fd00:2::1]:9000",
    "media.internal:8443",
    "bókasafn.example:8080",
  ]);
  const rows: readonly (readonly [string, number, string, boolean, boolean])[] = [
    ["a.example", 9000, "10.1.2.3", true, true],
    ["a.example", 9001, "10.1.2.3", false, false],
    ["a.example", 80, "10.1.2.3", false, true],
    ["a.example", 9000, "8.8.8.8", true, false],
    ["a.example", 9000, "fd00:1::7", true, true],
    ["a.example", 22, "fd00:1::7", false, false],
    ["a.example", 9000, "fd00:2::1", true, true],
    ["a.example", 9000, "fd00:2::2", false, false],
    ["media.internal", 8443, "192.168.0.1", true, true],
    ["media.internal", 443, "192.168.0.1", false, true],
    ["media.internal", 443, "8.8.8.8", true, true],
    ["xn--bkasafn-l0a.example", 8080, "8.8.8.8", true, true],
  ];
  for (const [host, port, address, isAllowed, isPortAllowed] of rows) {
    const name = `${host}:${port} at ${address}`;
    const target = { host, port };
    assert.equal(isAddressAllowed(target, address, allow), isAllowed, name);
    assert.equal(isPortAllowedAt(target, address, allow), isPortAllowed, name);
  }
  assert.ok(
    isAddressAllowed({ host: "a.example", port: 22 }, "::1", parseMediaAllowList(["[::1]"])),
  );
  // The address of a name is known only when the media is fetched.
  assert.equal(checkMediaUrl("http://a.example:9000/a", allow), undefined);
  assert.match(checkMediaUrl("http://a.example:9001/a", allow) ?? "", /port 9001/);
  assert.equal(checkMediaUrl("https://media.internal:8443/a", allow), undefined);
  assert.match(checkMediaUrl("https://media.internal:8444/a", allow) ?? "", /port 8444/);
  assert.equal(checkMediaUrl("http://bókasafn.example:8080/a", allow), undefined);
});

test("parseMediaAllowList() refuses an invalid entry and names it", () => {
  for (const entry of [
    "10.0.0.0/33",
    "10.0.0.0/",
    "::/129",
    "a b",
    "http://a",
    "-a",
    "a/8",
    "1/2/3",
    "127.1",
    "2130706433",
    "0x7f.0.0.1",
    "*.example",
    "a.example:0",
    "a.example:65536",
    "a.example:",
    "[a.example",
    "fe80::1%eth0",
    "",
  ]) {
    assert.throws(() => parseMediaAllowList([entry]), { message: /is not a network/ }, entry);
  }
});

test("plainAddress() normalizes the spelling of an address", () => {
  assert.equal(plainAddress("::ffff:10.0.0.1"), "10.0.0.1");
  assert.equal(plainAddress("0:0:0:0:0:0:0:1"), "::1");
  assert.equal(plainAddress("::FFFF:0a00:0001"), "10.0.0.1");
  assert.equal(plainAddress("nonsense"), "nonsense");
});
