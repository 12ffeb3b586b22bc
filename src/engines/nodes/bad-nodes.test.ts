// Tests engine nodes that send what they may not send: each is closed, and its streams continue on
// another node.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  commitsWithoutPool,
  finalsWithoutPool,
  recognize,
  speech,
  until,
} from "../../../test/fixtures/engine-pool-fixture.ts";
import { silence } from "../../../test/fixtures/flite.ts";
import { openKeptLog } from "../../../test/fixtures/kept-log.ts";
import { type Badness, openBadNode } from "../../../test/fixtures/open-bad-node.ts";
import {
  openEngineNode,
  openNodesPool,
  type OpenEngineNode,
  untilReady,
} from "../../../test/fixtures/open-engine-node.ts";
import type { FrameKind } from "../protocol/engine-frames.ts";
import type { SessionCheckpoint } from "../protocol/session-checkpoint.ts";

let good: OpenEngineNode;
before(async () => {
  good = await openEngineNode(1);
});
after(() => good[Symbol.asyncDispose]());

/** Returns a pool that uses the good node and another one, and its log. */
async function openPool(port: number, ready = 2) {
  await using parts = new AsyncDisposableStack();
  const kept = openKeptLog();
  const ports = [port, good.port];
  const pool = parts.use(await openNodesPool(ports, { silentMsMax: 1_500, log: kept.log }));
  await untilReady(pool, ready);
  const open = parts.move();
  return { pool, kept, [Symbol.asyncDispose]: () => open.disposeAsync() };
}

const said = [speech(1200), silence(800), speech(700), silence(900), speech(400)];
const short = { mode: "short" } as const;
const final = { isFinal: true, alternatives: [{ text: "one", words: [] }], audioEndMs: 1 };

const load = { seconds: 1, live: [], liveLateMs: 0 };
const jsonOf = (value: object) => Buffer.from(JSON.stringify(value));

/** Checkpoints from which another process cannot continue. */
const badCheckpoints: [
  what: string,
  change: (checkpoint: SessionCheckpoint) => Readonly<Record<string, unknown>>,
  problem: RegExp,
][] = [
  [
    "a checkpoint without an effort",
    ({ effort: _effort, ...rest }) => rest,
    /^committed: a checkpoint lacks resampler, cutter, decoder, effort or isFlushed$/,
  ],
  [
    "a checkpoint whose audio is beyond what was sent",
    ({ cutter, ...rest }) => ({ ...rest, cutter: { ...cutter, position: 1e300 } }),
    /^committed: cutter\.position must be a whole number from 0 to \d+, not 1e\+300/,
  ],
  [
    "a checkpoint without a cutter's state",
    (checkpoint) => ({ ...checkpoint, cutter: {} }),
    /^committed: cutter\.voiceActivity must be a list/,
  ],
  [
    "a checkpoint whose detector has a number for a name",
    ({ cutter, ...rest }) => ({ ...rest, cutter: { ...cutter, detector: 5 } }),
    /^committed: cutter\.detector is not a text$/,
  ],
  [
    "a checkpoint without a resampler's state",
    (checkpoint) => ({ ...checkpoint, resampler: {} }),
    /^committed: resampler\.phase must be a whole number/,
  ],
  [
    "a checkpoint with half a sample",
    (checkpoint) => ({ ...checkpoint, uncut: "QUJD" }),
    /^committed: uncut must be at most \d+ samples/,
  ],
  [
    "a checkpoint with text in place of samples",
    (checkpoint) => ({ ...checkpoint, uncut: "good day" }),
    /^committed: uncut must be at most \d+ samples/,
  ],
  [
    "a checkpoint with a frame of a minute",
    ({ cutter, ...rest }) => ({ ...rest, cutter: { ...cutter, frame: "A".repeat(2_560_000) } }),
    /^committed: cutter\.frame must be at most 16000 samples/,
  ],
  [
    "a checkpoint whose lengths are not those of its samples",
    ({ cutter, ...rest }) => ({ ...rest, cutter: { ...cutter, held: "AAA=", heldLengths: [2] } }),
    /^committed: the sum of cutter\.heldLengths must be 1, as in cutter\.held, not 2$/,
  ],
];

test("an engine node that sends what it may not send is closed and named, and its stream continues", async () => {
  const text = (session: number, json: string) => {
    const payload = Buffer.from(json);
    const header = Buffer.alloc(12);
    header.writeUInt32LE(payload.length, 0);
    header.writeUInt32LE(session, 4);
    // The number of an interim frame.
    header.writeUInt32LE(10, 8);
    return Buffer.concat([header, payload]);
  };
  const commit = commitsWithoutPool(said, short)[0] ?? assert.fail("nothing was committed");
  const rows: [what: string, badness: Badness, problem: RegExp, at?: FrameKind][] = [
    [
      "garbage",
      ({ sendBytes }) => sendBytes(Buffer.alloc(200, 0xee)),
      /bytes that are not a frame/,
    ],
    [
      "a number that is none",
      ({ session, sendBytes }) =>
        sendBytes(text(session, '{"isFinal":false,"audioEndMs":NaN,"text":"aaaa"}')),
      /^interim: the payload is not JSON$/,
    ],
    [
      "an infinite number",
      ({ session, sendBytes }) =>
        sendBytes(text(session, '{"isFinal":false,"alternatives":[],"audioEndMs":1e999}')),
      /^interim: audioEndMs must be a number from 0 to \d+, not Infinity/,
    ],
    [
      "a million letters",
      ({ session, writer }) => {
        const alternatives = [{ text: "a".repeat(1_000_000), words: [] }];
        writer.writeJson("interim", session, { ...final, isFinal: false, alternatives });
      },
      /^interim: an alternative has no text of at most 50000 letters/,
    ],
    [
      "a final twice",
      ({ session, writer }) => {
        for (const _ of [1, 2]) writer.writeJson("committed", session, commit);
      },
      /^committed: a final at 1700 ms comes after one at 1700 ms/,
    ],
    [
      "a commit out of order",
      ({ session, writer }) => {
        const position = { samples: 9, flushMarkers: 0 };
        writer.writeJson("committed", session, commit);
        writer.writeJson("committed", session, { checkpoint: { ...commit.checkpoint, position } });
      },
      /^committed: position 9 comes after \d{5}/,
    ],
    [
      "a commit of audio that was not sent",
      ({ session, writer }) => {
        const position = { samples: 1e8, flushMarkers: 0 };
        writer.writeJson("committed", session, { checkpoint: { ...commit.checkpoint, position } });
      },
      /^committed: position.samples must be a whole number from 0 to \d+, not 100000000/,
    ],
    ...badCheckpoints.map(([what, change, problem]): (typeof rows)[number] => [
      what,
      ({ session, writer }) =>
        writer.write("committed", session, jsonOf({ checkpoint: change(commit.checkpoint) })),
      problem,
    ]),
    [
      "more samples than were sent",
      ({ session, writer }) => writer.writeJson("received", session, 1e7),
      /^received: received must be a whole number/,
    ],
    [
      "an end of a session in the middle of its input",
      ({ session, writer }) => writer.write("done", session),
      /^done: \d+ samples of the session were not received/,
      "audio",
    ],
    [
      "a frame of the other direction",
      ({ session, writer }) => writer.write("endInput", session),
      /^endInput: an engine node sends no such frame/,
    ],
    [
      "a load that is none",
      ({ sendBytes }) => {
        const bytes = text(0, '{"seconds":"long"}');
        bytes.writeUInt32LE(9, 8);
        sendBytes(bytes);
      },
      /^load: seconds must be a number/,
    ],
    [
      "a load that does not list its busy sessions",
      ({ writer }) => writer.write("load", 0, jsonOf({ ...load, busy: "aaaa" })),
      /^load: busy must be a list of at most 100000$/,
    ],
    [
      "a load with a busy session that there cannot be",
      ({ writer }) => writer.write("load", 0, jsonOf({ ...load, busy: [1, -1] })),
      /^load: busy must be a whole number from 0 to 4294967295, not -1$/,
    ],
    [
      "a load of a server that is absent in a way that there is not",
      ({ sendBytes }) => {
        const absence = { kind: "CRITICAL", reason: "aaaa", absentMs: 1 };
        const bytes = text(0, JSON.stringify({ seconds: 1, absence }));
        bytes.writeUInt32LE(9, 8);
        sendBytes(bytes);
      },
      /^load: absence\.kind must be UNREACHABLE, BUSY or DENIED$/,
    ],
    [
      "a process whose server is absent in a way that there is not",
      ({ say }) => {
        const model = { name: "hosted", version: "1", uses: ["live"] };
        const absence = { kind: "CRITICAL", reason: "aaaa", absentMs: 1 };
        const value = { process: 2, model, engine: { name: "hosted" }, absence };
        say({ message: { case: "ready", value } });
      },
      /^absence\.kind must be UNREACHABLE, BUSY or DENIED$/,
    ],
    [
      "an error of a server that is absent for no time",
      ({ session, writer }) => {
        const absence = { kind: "BUSY", reason: "it has no room", absentMs: "long" };
        writer.write("error", session, jsonOf({ message: "it failed", absence }));
      },
      /^error: absence\.absentMs must be a number from 0 to \d+, not string$/,
    ],
    [
      "an error whose stack is a number",
      ({ session, writer }) =>
        writer.write("error", session, jsonOf({ message: "it failed", stack: 5 })),
      /^error: a stack is not a text$/,
    ],
    [
      "an error whose answer is a number",
      ({ session, writer }) =>
        writer.write("error", session, jsonOf({ message: "it failed", answer: 500 })),
      /^error: an answer is not a text$/,
    ],
    [
      "a second hello",
      ({ say }) => say({ message: { case: "hello", value: {} } }),
      /may not send here/,
    ],
    [
      "an answer to no beat",
      ({ say }) => say({ message: { case: "beat", value: { number: 99, others: [] } } }),
      /it answered no beat/,
    ],
  ];
  for (const [what, badness, problem, at] of rows) {
    await using node = await openBadNode(badness, { ...(at && { at }) });
    await using opened = await openPool(node.port);
    const { pool, kept } = opened;
    assert.deepEqual(await recognize(pool, said, short), finalsWithoutPool(said, short), what);
    await until(() => kept.of("engine.node_misbehaved").length > 0, what);
    const [line] = kept.of("engine.node_misbehaved");
    assert.equal(line?.["node"], `127.0.0.1:${node.port}`, what);
    assert.match(String(line?.["problem"]), problem, what);
    assert.ok(!JSON.stringify(kept.lines).includes("aaaa"), "text is not logged");
    const [state] = pool.state().nodes ?? [];
    assert.deepEqual([state?.connected, state?.losses], [false, 1], what);
    assert.match(state?.problem ?? "", problem, what);
  }
});

test("an engine node whose hello cannot be true is closed and named", async () => {
  const rows = [
    [{ cores: 0 }, "the cores of its hello must be 1 to 100000, not 0"],
    [{ cores: 100_001 }, "the cores of its hello must be 1 to 100000, not 100001"],
    [{ runId: "a".repeat(101) }, "the runId of its hello must have at most 100 characters"],
    [{ protocol: 99 }, "its protocol is 99, not 1"],
  ] as const;
  for (const [hello, problem] of rows) {
    await using node = await openBadNode(() => {}, { hello });
    await using opened = await openPool(node.port, 1);
    const misbehaved = () => opened.kept.of("engine.node_misbehaved");
    await until(() => misbehaved().length > 0, problem);
    assert.equal(misbehaved()[0]?.["problem"], problem);
    assert.equal(misbehaved()[0]?.["node"], `127.0.0.1:${node.port}`);
  }
});

test("an engine node that does not answer is given up, and its stream continues", async () => {
  await using node = await openBadNode(() => {}, { answersBeats: false });
  await using opened = await openPool(node.port);
  const { pool, kept } = opened;
  assert.deepEqual(await recognize(pool, said, short), finalsWithoutPool(said, short));
  const [line] = kept.of("engine.node_lost");
  assert.match(String(line?.["problem"]), /it has not answered for 1.5 s/);
});

test("an engine node whose sessions all fail costs a delay, and then gets no more of them", async () => {
  let sessions = 0;
  await using node = await openBadNode(({ session, writer }) => {
    sessions += 1;
    writer.writeJson("error", session, { message: "the card has no memory left" });
  });
  await using opened = await openPool(node.port);
  const { pool, kept } = opened;
  const expected = finalsWithoutPool(said, short);
  for (let call = 0; call < 8; call += 1) {
    assert.deepEqual(await recognize(pool, said, short), expected, `call ${call}`);
  }
  assert.equal(sessions, 3);
  assert.equal(kept.of("engine.retry").length, 3);
  assert.equal(kept.of("engine.failing").length, 1);
  assert.deepEqual(kept.of("engine.node_misbehaved"), []);
});
