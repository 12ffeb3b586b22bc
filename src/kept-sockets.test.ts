import assert from "node:assert/strict";
import { test } from "node:test";
import { findKeptSockets } from "./kept-sockets.ts";

const wyoming = {
  host: "127.0.0.1",
  port: 10300,
  keyFile: "/key",
  allowFrom: [],
  isAnnounced: false,
};

test("findKeptSockets() finds the listener of each socket by its address", async () => {
  const port = { descriptor: 3, host: "127.0.0.1", port: 8080 };
  const rows = [
    [{ host: "127.0.0.1", port: 8080, wyoming: undefined, role: "all" }, [], {}],
    [{ host: "127.0.0.1", port: 8080, wyoming: undefined, role: "all" }, [port], { port: 3 }],
    [{ host: "localhost", port: 8080, wyoming: undefined, role: "all" }, [port], { port: 3 }],
    [
      { host: "0:0:0:0:0:0:0:0", port: 8080, wyoming: undefined, role: "all" },
      [{ ...port, host: "::" }],
      { port: 3 },
    ],
    [
      { host: "fe80::1%lo", port: 8080, wyoming: undefined, role: "all" },
      [{ ...port, host: "fe80::1" }],
      { port: 3 },
    ],
    [
      { host: "127.0.0.1", port: 8080, wyoming, role: "all" },
      [
        { descriptor: 3, host: "127.0.0.1", port: 10300 },
        { ...port, descriptor: 4 },
      ],
      { port: 4, wyoming: 3 },
    ],
  ] as const;
  for (const [config, passed, found] of rows) {
    assert.deepEqual(await findKeptSockets(config, passed), found);
  }
});

test("findKeptSockets() refuses a socket of no listener, whose connections would wait forever", async () => {
  const socket = { descriptor: 3, host: "127.0.0.1", port: 8080 };
  const rows = [
    // A wider address than that of the setting would open the service to other machines.
    [{ ...socket, host: "0.0.0.0" }, "0.0.0.0:8080"],
    [{ ...socket, host: "::" }, "[::]:8080"],
    [{ ...socket, port: 8081 }, "127.0.0.1:8081"],
  ] as const;
  for (const [passed, address] of rows) {
    const config = { host: "127.0.0.1", port: 8080, wyoming: undefined, role: "all" } as const;
    await assert.rejects(findKeptSockets(config, [passed]), {
      name: "ConfigError",
      message: `systemd passes a socket at ${address}, but HLUST_HOST and HLUST_PORT are 127.0.0.1:8080: write the same address in hlust.socket (ListenStream=) and in the settings`,
    });
  }
  const twice = [socket, { ...socket, descriptor: 4 }];
  await assert.rejects(
    findKeptSockets({ host: "127.0.0.1", port: 8080, wyoming, role: "all" }, twice),
    /127\.0\.0\.1:8080 and HLUST_WYOMING_LISTEN is 127\.0\.0\.1:10300/,
  );
  // These nodes do not open it.
  for (const role of ["worker", "engine"] as const) {
    await assert.rejects(
      findKeptSockets({ host: "127.0.0.1", port: 8080, wyoming, role }, [
        { ...socket, port: wyoming.port },
      ]),
      /at 127\.0\.0\.1:10300, but HLUST_HOST and HLUST_PORT are 127\.0\.0\.1:8080: write/,
    );
  }
});
