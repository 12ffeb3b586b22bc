import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { errorFields, type Log } from "../std/log.ts";
import { cancelStatement } from "./cancel-statement.ts";
import { limitsInUrl, refusesConnection, refusesParameter } from "./connection-refusal.ts";

export interface ConnectionPoolOptions {
  readonly connection: pg.PoolConfig;
  readonly connectionsMax: number;
  /** How long a caller waits for a connection. */
  readonly waitMsMax: number;
  /** No statement runs for longer: the server cancels it, or behind a pooler the pool does. */
  readonly statementMsMax: number;
  readonly log: Log;
}

/**
 * A server that does not answer at all counts as lost this long after it should have cancelled a
 * statement.
 */
const graceMs = 5_000;
/**
 * Behind a pooler the pool cancels single statements, after the server has cancelled those of
 * transactions.
 */
const pooledGraceMs = 1_000;
/**
 * A failed statement has ended on the server, too, within this time; one that took too long has
 * not.
 */
const endMs = 100;
/** How often a node without any connection asks for one. */
const askEveryMs = 100;
/**
 * While the server refuses connections, the pool may grow by one this often, and closes some at
 * most this often.
 */
const paceMs = 1_000;
/**
 * The share of its connections that a pool keeps when the server refuses more, since other nodes
 * may have none.
 */
const keptShare = 0.75;
const noteEveryMs = 60_000;

type ConnectCallback = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (failure?: Error | boolean) => void,
) => void;

/** A call that waits for a connection. */
interface WaitingCall {
  readonly take: (client: pg.PoolClient) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * A pool in which a call waits for one of its node's connections if the server refuses a new one,
 * and in which every statement ends in time, even behind a PgBouncer, which accepts no limits at
 * the start of a connection. Calls wait in one queue, each for at most waitMsMax. Apart from that
 * the pool asks pg-pool for as many connections as calls wait for, and gives each connection that
 * it gets to the first call of the queue. It asks again whenever that may have become possible.
 */
export class ConnectionPool extends pg.Pool {
  readonly #settings: ConnectionPoolOptions;
  #isPooled = false;
  /** Connections that are established. */
  readonly #open = new Set<pg.PoolClient>();
  /** First come, first served. */
  readonly #waiting = new Set<WaitingCall>();
  /** Connections that pg-pool was asked for and has not returned yet. */
  #asked = 0;
  /** Set while a node without any connection, which was refused one, does not ask. */
  #pause: NodeJS.Timeout | undefined;
  /** Why the server last refused a connection, while the pool is below its size. */
  #refusal: unknown;
  #growing: NodeJS.Timeout | undefined;
  #shrunkMs = -Infinity;
  #notedMs = -Infinity;
  /** Refusals since the last line in the log. */
  #refusals = 0;

  constructor(settings: ConnectionPoolOptions) {
    const { connection, connectionsMax, waitMsMax, statementMsMax, log } = settings;
    super({
      ...connection,
      application_name: "hlust",
      max: connectionsMax,
      // A node that has a connection can wait for it.
      min: 1,
      connectionTimeoutMillis: waitMsMax,
      statement_timeout: statementMsMax,
      query_timeout: statementMsMax + graceMs,
      idle_in_transaction_session_timeout: 2 * statementMsMax,
    });
    this.#settings = settings;
    this.on("error", (error) => log.warn(errorFields(error), "database.connection_lost"));
    this.on("connect", (client) => {
      this.#open.add(client);
      client.once("end", () => this.#open.delete(client));
      // The pool listens to idle connections only; one that breaks in use fails its query and then
      // emits again, here.
      client.on("error", (error) => log.debug(errorFields(error), "database.connection_broken"));
    });
    this.on("remove", () => this.#ask());
  }

  /**
   * Whether a pooler is in front of the server: then limits are set for each transaction, or by the
   * pool.
   */
  get isPooled(): boolean {
    return this.#isPooled;
  }

  /**
   * The first statement of a transaction behind a pooler: limits that also hold when this node has
   * died.
   */
  get transactionLimits(): string {
    const { statementMsMax } = this.#settings;
    return `set local statement_timeout = ${statementMsMax};
      set local idle_in_transaction_session_timeout = ${2 * statementMsMax}`;
  }

  /**
   * Some poolers accept the limits at the start of a connection and ignore them: checks that. To be
   * called before the first use.
   */
  async checkLimits(): Promise<void> {
    const { rows } = await this.query<{ setting: string }>(
      "select setting from pg_settings where name = 'statement_timeout'",
    );
    // A limit of the role or the database is as good, and also holds for single statements of a
    // node that has died.
    const isServerLimited = rows[0]?.setting !== "0";
    if (!isServerLimited) this.#limitHere();
    if (this.#isPooled) this.#settings.log.info({ isServerLimited }, "database.behind_pooler");
  }

  #limitHere(): void {
    this.#isPooled = true;
    this.options.statement_timeout = undefined;
    this.options.idle_in_transaction_session_timeout = undefined;
    this.options.query_timeout = this.#settings.statementMsMax + pooledGraceMs;
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<pg.PoolClient> | void {
    if (!callback) return this.#connect();
    void this.#connectFor(callback);
  }

  async #connectFor(callback: ConnectCallback): Promise<void> {
    let client: pg.PoolClient;
    try {
      client = await this.#connect();
    } catch (error) {
      callback(error instanceof Error ? error : new Error(String(error)), undefined, () => {});
      return;
    }
    callback(undefined, client, (failure) => client.release(failure));
  }

  #connect(): Promise<pg.PoolClient> {
    const { promise, resolve, reject } = Promise.withResolvers<pg.PoolClient>();
    const call: WaitingCall = {
      take: (client) => settle(() => resolve(client)),
      fail: (error) => settle(() => reject(error)),
    };
    const late = setTimeout(() => call.fail(this.#lateError()), this.#settings.waitMsMax);
    const settle = (end: () => void): void => {
      clearTimeout(late);
      this.#waiting.delete(call);
      end();
    };
    this.#waiting.add(call);
    this.#ask();
    return promise;
  }

  /** Asks for as many connections as there are waiting calls, within the size of the pool. */
  #ask(): void {
    while (this.#asked < this.#waiting.size && this.#mayAsk()) {
      this.#asked += 1;
      const hadLimits = !this.#isPooled;
      super.connect().then(
        (client) => this.#got(client),
        (error: unknown) => this.#failed(error, hadLimits),
      );
    }
  }

  #mayAsk(): boolean {
    // pg-pool returns an idle connection a moment after it was asked.
    if (this.idleCount > 0) return this.idleCount > this.waitingCount;
    // One request at a time shows whether the server has a connection.
    if (this.#open.size === 0 && (this.#pause || this.#asked > 0)) return false;
    return this.totalCount < this.options.max;
  }

  #got(client: pg.PoolClient): void {
    this.#asked -= 1;
    const handedOut = this.#handOut(client);
    const [call] = this.#waiting;
    if (call) call.take(handedOut);
    else handedOut.release();
    this.#ask();
  }

  #failed(error: unknown, hadLimits: boolean): void {
    this.#asked -= 1;
    const parameter = refusesParameter(error);
    if (refusesConnection(error)) this.#shrink(error);
    else if (parameter?.endsWith("timeout") && hadLimits) this.#limitHere();
    else this.#fail(parameter === undefined ? error : limitsInUrl(parameter));
    this.#ask();
  }

  /** Fails the waiting calls: the node has no connection that could become free. */
  #fail(error: unknown): void {
    for (const call of this.#waiting) {
      call.fail(error);
      if (this.#open.size > 0) return;
    }
  }

  #lateError(): Error {
    const why = this.#refusal instanceof Error ? `: ${this.#refusal.message}` : "";
    const { waitMsMax } = this.#settings;
    const message = `timeout exceeded when trying to connect: no connection within ${waitMsMax} ms${why}`;
    return new Error(message, { cause: this.#refusal });
  }

  /**
   * A released connection is closed if there are too many, or if its statement or transaction has
   * not ended.
   */
  #handOut(client: pg.PoolClient): pg.PoolClient {
    const releaseToPool = client.release.bind(client);
    const release = (failure: Error | boolean | undefined): void => {
      const isLeftOpen = !failure && isInTransaction(client);
      if (isLeftOpen) this.#settings.log.warn({}, "database.transaction_left_open");
      const isClosed = Boolean(failure) || isLeftOpen || this.#open.size > this.options.max;
      // Counted now, not when it has ended: others may be released at the same moment.
      if (isClosed) this.#open.delete(client);
      releaseToPool(failure || isClosed);
      this.#ask();
    };
    client.release = (failure) => {
      if (!isBusy(client) || !this.#open.has(client)) release(failure);
      else void this.#endStatement(client).then((hasEnded) => release(failure || !hasEnded));
    };
    return client;
  }

  /**
   * Resolves to whether the statement of this connection ended by itself; otherwise it is
   * cancelled.
   */
  async #endStatement(client: pg.PoolClient): Promise<boolean> {
    const ended = Promise.withResolvers<true>();
    client.once("drain", () => ended.resolve(true));
    const hasEnded = await Promise.race([ended.promise, sleep(endMs, false)]);
    if (!hasEnded && client instanceof pg.Client) await cancelStatement(client);
    return hasEnded;
  }

  /**
   * The server has no more connections for this node: the pool shrinks, and asks for one more each
   * second.
   */
  #shrink(error: unknown): void {
    const nowMs = performance.now();
    this.#refusal = error;
    const connecting = this.#asked - this.waitingCount;
    if (nowMs - this.#shrunkMs > paceMs) {
      this.#shrunkMs = nowMs;
      this.options.max = Math.floor(this.#open.size * keptShare) + connecting;
    } else {
      this.options.max = Math.min(this.options.max - 1, this.#open.size + connecting);
    }
    this.options.max = Math.max(1, this.options.max);
    if (this.#open.size === 0) {
      this.#pause ??= setTimeout(() => {
        this.#pause = undefined;
        this.#ask();
      }, askEveryMs).unref();
    }
    this.#growing ??= setInterval(() => this.#grow(), paceMs).unref();
    this.#refusals += 1;
    if (nowMs - this.#notedMs < noteEveryMs) return;
    const { log, connectionsMax } = this.#settings;
    const counts = { refusals: this.#refusals, connections: this.#open.size, connectionsMax };
    log.warn({ ...counts, ...errorFields(error) }, "database.connections_refused");
    this.#notedMs = nowMs;
    this.#refusals = 0;
  }

  #grow(): void {
    const { connectionsMax } = this.#settings;
    this.options.max = Math.min(connectionsMax, this.options.max + 1);
    this.#ask();
    if (this.options.max < connectionsMax && !this.ending) return;
    this.#refusal = undefined;
    clearInterval(this.#growing);
    this.#growing = undefined;
  }
}

/**
 * Whether a statement is in progress. After an error the server's last message may arrive a moment
 * later.
 */
function isBusy(client: pg.PoolClient): boolean {
  return "readyForQuery" in client && client.readyForQuery === false;
}

/**
 * Whether the caller has left a transaction open: later statements would be part of it, and be lost
 * with it.
 */
function isInTransaction(client: pg.PoolClient): boolean {
  const status = client.getTransactionStatus();
  return status === "T" || status === "E";
}
