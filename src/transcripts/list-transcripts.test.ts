import assert from "node:assert/strict";
import { after, test } from "node:test";
import fc from "fast-check";
import { sql } from "kysely";
import { metadataWith, openTestTranscripts } from "../../test/fixtures/open-test-transcripts.ts";
import { newId } from "../std/ids.ts";
import { ServiceError } from "../std/service-error.ts";

const app = await openTestTranscripts();
after(async () => {
  await app[Symbol.asyncDispose]();
});

type Client = typeof app.client;

async function newClient(): Promise<Client> {
  return app.clientFor(await app.newAccount());
}

async function createMany(client: Client, count: number): Promise<string[]> {
  const names: string[] = [];
  for (let index = 0; index < count; index += 1) {
    names.push(await client.create({ metadata: metadataWith({ subject: `${index}` }) }));
  }
  return names;
}

/** Returns the names on all pages; `between` runs after each page. */
async function traverse(
  client: Client,
  query: { pageSize?: number; filter?: string },
  between: () => Promise<unknown> = async () => {},
): Promise<string[][]> {
  const pages: string[][] = [];
  let pageToken = "";
  do {
    const { transcripts, nextPageToken } = await client.list({ ...query, pageToken });
    pages.push(transcripts.map(({ name }) => name));
    pageToken = nextPageToken;
    await between();
  } while (pageToken !== "");
  return pages;
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

test("listTranscripts() returns the caller's own transcripts, the last changed first, without segments", async () => {
  const [client, other] = [await newClient(), await newClient()];
  const names = await createMany(client, 3);
  await createMany(other, 1);
  const segments = [{ startTime: { seconds: 0n }, endTime: { seconds: 1n }, words: [] }];
  names.push(await client.create({ metadata: metadataWith({ subject: "x" }), segments }));
  const { transcripts, nextPageToken } = await client.list();
  assert.deepEqual(
    transcripts.map(({ name }) => name),
    names.toReversed(),
  );
  assert.equal(nextPageToken, "");
  const [oldest = ""] = names;
  await client.update(
    { name: oldest, metadata: metadataWith({ subject: "y" }) },
    "metadata.subject",
  );
  const changed = await client.list({ pageSize: 1 });
  assert.equal(changed.transcripts[0]?.name, oldest);
  const [first] = transcripts;
  assert.ok(first);
  assert.deepEqual(first.segments, []);
  assert.deepEqual({ ...(await client.get(first.name)), segments: [] }, { ...first });
  const nothing = await (await newClient()).list();
  assert.deepEqual([nothing.transcripts, nothing.nextPageToken], [[], ""]);
});

test("listTranscripts() pages through every transcript once while others are created and deleted", async () => {
  const client = await newClient();
  // Those of the same millisecond are in the order of their ids.
  const names = (await createMany(client, 25)).toSorted();
  for (const pageSize of [1, 4, 5, 24, 25, 26]) {
    const pages = await traverse(client, { pageSize });
    assert.deepEqual(pages.flat(), names.toReversed(), `${pageSize}`);
    assert.equal(pages.length, Math.ceil(25 / pageSize));
  }
  const doomed = names.splice(20, 2);
  const seen = await traverse(client, { pageSize: 3 }, async () => {
    await client.create({ metadata: metadataWith() });
    const next = doomed.pop();
    if (next) await client.delete(next);
  });
  assert.deepEqual(
    seen.flat().filter((name) => names.includes(name)),
    names.toReversed(),
  );
  assert.equal(new Set(seen.flat()).size, seen.flat().length);
});

test("listTranscripts() orders transcripts of the same millisecond", async () => {
  const accountId = await app.newAccount();
  const client = app.clientFor(accountId);
  await createMany(client, 30);
  await sql`
    update transcript set updated_at = '2026-11-20T10:00:00.123Z'::timestamptz
      + (abs(hashtext(id::text)) % 7) * interval '1 microsecond'
    where account_id = ${accountId}`.execute(app.db);
  const { rows } = await sql<{ id: string }>`
    select id from transcript where account_id = ${accountId} order by updated_at desc, id desc
  `.execute(app.db);
  const pages = await traverse(client, { pageSize: 4 });
  assert.deepEqual(
    pages.flat(),
    rows.map(({ id }) => `transcripts/${id}`),
  );
});

test("pages contain each transcript that exists throughout exactly once, in order, whatever is created and deleted in between", async () => {
  const change = fc.record({
    comes: fc.array(fc.nat(4), { maxLength: 3 }),
    goes: fc.array(fc.nat(), { maxLength: 2 }),
  });
  const filter = fc.constantFrom("", 'metadata.subject CONTAINS "s"');
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(4), { maxLength: 20 }),
      fc.integer({ min: 1, max: 6 }),
      filter,
      fc.array(change, { maxLength: 8 }),
      async (times, pageSize, filterText, changes) => {
        const accountId = await app.newAccount();
        const client = app.clientFor(accountId);
        const always = new Set(await insertAt(accountId, times));
        const seen = await traverse(client, { pageSize, filter: filterText }, async () => {
          const { comes, goes } = changes.pop() ?? { comes: [], goes: [] };
          await insertAt(accountId, comes);
          const left = [...always];
          const doomed = goes.flatMap((index) => left[index % left.length] ?? []);
          for (const id of doomed) always.delete(id);
          await app.db
            .deleteFrom("transcript")
            .where("id", "in", [newId(), ...doomed])
            .execute();
        });
        const names = seen.flat();
        assert.equal(new Set(names).size, names.length);
        const { rows } = await sql<{ id: string }>`
          select id from transcript where account_id = ${accountId} order by updated_at desc, id desc`.execute(
          app.db,
        );
        const kept = rows.map(({ id }) => id).filter((id) => always.has(id));
        const keptSeen = names
          .map((name) => name.slice("transcripts/".length))
          .filter((id) => always.has(id));
        assert.deepEqual(keptSeen, kept);
      },
    ),
    { numRuns: 40 },
  );
});

/**
 * Creates transcripts at these microseconds of the same millisecond; several may share one
 * microsecond.
 */
async function insertAt(accountId: string, microseconds: readonly number[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    insert into transcript (id, account_id, version_id, metadata, subject, keywords, created_at, updated_at)
    select gen_random_uuid(), ${accountId}, gen_random_uuid(), '{}', 's', '{}', at, at
    from (select timestamptz '2026-11-20T10:00:00.123Z' + us * interval '1 microsecond' as at
          from unnest(${[...microseconds]}::int[]) us) as made
    returning id`.execute(app.db);
  return rows.map(({ id }) => id);
}

test("listTranscripts() accepts only page tokens for the same list", async () => {
  const [client, other] = [await newClient(), await newClient()];
  const [versioned = "", another = ""] = await createMany(client, 3);
  await createMany(other, 3);
  await client.update({ name: versioned, metadata: metadataWith() }, "metadata.subject");
  const versions = { parent: versioned, pageSize: 1 };
  const ofVersions = (await client.versions(versions)).nextPageToken;
  assert.equal((await client.versions({ ...versions, pageToken: ofVersions })).versions.length, 1);
  const filter = 'metadata.subject CONTAINS ""';
  const { nextPageToken: pageToken } = await client.list({ pageSize: 1, filter });
  assert.equal((await client.list({ pageToken, filter })).transcripts.length, 2);
  const same = { direction: 1, orderBy: "version.creationTime" } as const;
  assert.equal((await client.list({ pageToken, filter, ordering: same })).transcripts.length, 2);
  for (const call of [
    async () => await client.list({ pageToken }),
    async () => await client.list({ pageToken, filter: `${filter} ` }),
    async () => await other.list({ pageToken, filter }),
    async () => await client.list({ pageToken: `${pageToken}A`, filter }),
    async () => await client.list({ pageToken: "x" }),
    async () => await client.list({ pageToken, filter, ordering: { orderBy: "subject" } }),
    async () => await client.list({ pageToken, filter, ordering: { direction: 2 } }),
    async () => await client.list({ pageToken: ofVersions }),
    async () => await client.versions({ parent: another, pageToken: ofVersions }),
    async () => await client.versions({ parent: versioned, pageToken }),
  ]) {
    await assert.rejects(call, { code: "invalid_argument" });
  }
});

test("listTranscripts() reports all violations together", async () => {
  const ordering = { orderBy: "x" };
  const call = app.client.list({ pageSize: -1, pageToken: "x", filter: "x", ordering });
  await assert.rejects(call, (error) => {
    assert.ok(error instanceof ServiceError);
    const fields = error.violations.map(({ field }) => field);
    assert.deepEqual(fields, ["pageSize", "pageToken", "filter", "ordering.orderBy"]);
    return true;
  });
});

test("the subject filter matches any part, in any case, and supports no patterns", async () => {
  const client = await newClient();
  const subjects = [
    "ÞÁ kom vorið",
    "þá fór það",
    "Ðe ÆÖ",
    "100%",
    "100",
    "a_b",
    "axb",
    "a\\b",
    'a"b',
    "",
    "' or 1=1 --",
    "ΣΊΣΥΦΟΣ",
  ];
  for (const subject of subjects) await client.create({ metadata: metadataWith({ subject }) });
  const rows: [text: string, found: string[]][] = [
    ["þá", ["ÞÁ kom vorið", "þá fór það"]],
    ["ÞAÐ", ["þá fór það"]],
    ["ðE æö", ["Ðe ÆÖ"]],
    ["100%", ["100%"]],
    ["%", ["100%"]],
    ["_", ["a_b"]],
    ["a_b", ["a_b"]],
    ["\\", ["a\\b"]],
    ['"', ['a"b']],
    ["' OR 1=1", ["' or 1=1 --"]],
    ["", subjects],
    ["nowhere", []],
  ];
  for (const [text, found] of rows) {
    const { transcripts } = await client.list({
      filter: `metadata.subject CONTAINS ${quoted(text)}`,
    });
    const seen = transcripts.map(({ metadata }) => metadata?.subject ?? "");
    assert.deepEqual(seen.toSorted(), found.toSorted(), text);
  }
});

test("the keyword filter finds transcripts that have one of the keywords exactly, and with AND those that have each", async () => {
  const client = await newClient();
  const all = [["a"], ["a", "b"], ["A"], ["ab"], [], ['"', "{a,b}"], ["null"]];
  for (const keywords of all) await client.create({ metadata: metadataWith({ keywords }) });
  const rows: [keywords: string[], found: string[][]][] = [
    [["a"], [["a"], ["a", "b"]]],
    [["b"], [["a", "b"]]],
    [
      ["b", "A"],
      [["A"], ["a", "b"]],
    ],
    [
      ["a", "a"],
      [["a"], ["a", "b"]],
    ],
    [["A"], [["A"]]],
    [["{a,b}"], [['"', "{a,b}"]]],
    [['"'], [['"', "{a,b}"]]],
    [["null"], [["null"]]],
    [[""], []],
  ];
  for (const [keywords, found] of rows) {
    const filter = `metadata.keywords CONTAINS [${keywords.map(quoted).join()}]`;
    const { transcripts } = await client.list({ filter });
    const seen = transcripts.map(({ metadata }) => metadata?.keywords.join() ?? "");
    assert.deepEqual(seen.toSorted(), found.map((each) => each.join()).toSorted(), filter);
  }
  const joined: [filter: string, found: string[][]][] = [
    ['metadata.keywords CONTAINS ["a"] AND metadata.keywords CONTAINS ["b"]', [["a", "b"]]],
    ['metadata.keywords CONTAINS ["a"] AND metadata.keywords CONTAINS ["A"]', []],
    [
      'metadata.keywords CONTAINS ["a", "A"] AND metadata.subject CONTAINS ""',
      [["a"], ["a", "b"], ["A"]],
    ],
    ['metadata.keywords CONTAINS ["a"] AND metadata.subject CONTAINS "x"', []],
  ];
  for (const [filter, found] of joined) {
    const { transcripts } = await client.list({ filter });
    const seen = transcripts.map(({ metadata }) => metadata?.keywords.join() ?? "");
    assert.deepEqual(seen.toSorted(), found.map((each) => each.join()).toSorted(), filter);
  }
});

test("the filters find the same transcripts as a naive search", async () => {
  const client = await newClient();
  const letter = fc.constantFrom("a", "A", "á", "Á", "ð", "Ð", "%", "_", "\\", '"', " ");
  const text = (maxLength: number) => fc.string({ unit: letter, maxLength });
  const subjects = fc.sample(text(12), { numRuns: 60, seed: 1 });
  for (const subject of subjects) await client.create({ metadata: metadataWith({ subject }) });
  await fc.assert(
    fc.asyncProperty(text(3), async (needle) => {
      const filter = `metadata.subject CONTAINS ${quoted(needle)}`;
      const { transcripts } = await client.list({ filter, pageSize: 1000 });
      const expected = subjects.filter((each) => each.toLowerCase().includes(needle.toLowerCase()));
      const seen = transcripts.map(({ metadata }) => metadata?.subject ?? "");
      assert.deepEqual(seen.toSorted(), expected.toSorted());
    }),
    { numRuns: 150 },
  );
});
