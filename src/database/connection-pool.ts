import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { PoolRecorder } from "../metrics/recorders.ts";
import { errorFields, type Log } from "../std/log.ts";
import { cancelStatement } from "./cancel-statement.ts";
import { limitsInUrl, refusesConnection, refusesParameter } from "./connection-refusal.ts";

export interface ConnectionPoolOptions {
  readonly connection: pg.PoolConfig;
  readonly connectionsMax: number;
  /** How long a caller waits for a connection. */
  readonly waitMsMax: number;
  /**
   * The maximum time of a statement. The server cancels a longer statement; behind a pooler, the
   * pool does.
   */
  readonly statementMsMax: number;
  /** Records how long calls wait, for the metrics of the node. */
  readonly recorder?: PoolRecorder | undefined;
  readonly log: Log;
}

/**
 * A server that does not answer at all counts as lost this long after the time at which it should
 * have cancelled a statement.
 */
const graceMs = 5_000;
/**
 * Behind a pooler, the pool cancels single statements this long after the time at which the server
 * cancels those of transactions.
 */
const pooledGraceMs = 1_000;
/**
 * The time within which a failed statement has also ended on the server. A statement that exceeded
 * its time limit has not.
 */
const endMs = 100;
/** The interval at which a node without any connection requests one. */
const askEveryMs = 100;
/**
 * The interval at which the pool may grow by one connection while the server refuses connections.
 * It also closes some of its connections at most once per interval.
 */
const paceMs = 1_000;
/**
 * The share of its connections that a pool keeps when the server refuses new ones. The rest is
 * closed, so that nodes without any connection can get some.
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
 * A pool in which a call waits for one of its node's connections if the server refuses a new one.
 * Every statement ends in time, even behind a PgBouncer, which accepts no limits at the start of a
 * connection. Calls wait in one queue, each for at most waitMsMax. The pool requests as many
 * connections from pg-pool as there are waiting calls, and passes each connection to the first call
 * in the queue. It requests more whenever another connection may have become available.
 */
export class ConnectionPool extends pg.Pool {
  readonly #settings: ConnectionPoolOptions;
  #isPooled = false;
  /** The established connections. */
  readonly #open = new Set<pg.PoolClient>();
  /** The waiting calls, in order of arrival. */
  readonly #waiting = new Set<WaitingCall>();
  /** The number of connections that were requested from pg-pool and have not been returned yet. */
  #asked = 0;
  /**
   * The timer of the pause between two requests of a node that has no connection and was refused
   * one.
   */
  #pause: NodeJS.Timeout | undefined;
  /** The reason for the server's last refusal, while the pool is below its full size. */
  #refusal: unknown;
  #growing: NodeJS.Timeout | undefined;
  #shrunkMs = -Infinity;
  #notedMs = -Infinity;
  /** The number of refusals since the last log entry. */
  #refusals = 0;

  constructor(settings: ConnectionPoolOptions) {
    const { connection, connectionsMax, waitMsMax, statementMsMax, log } = settings;
    super({
      ...connection,
      application_name: "hlust",
      max: connectionsMax,
      // A node that already has a connection can wait for it to become free.
      min: 1,
      connectionTimeoutMillis: waitMsMax,
      statement_timeout: statementMsMax,
      query_timeout: statementMsMax + graceMs,
      idle_in_transaction_session_timeout: 2 * statementMsMax,
    });
    this.#settings = settings;
    // The service's own server may end before the last connection has, which is then no loss.
    this.on("error", (error) => {
      if (!this.ending) log.warn(errorFields(error), "database.connection_lost");
    });
    this.on("connect", (client) => {
      this.#open.add(client);
      client.once("end", () => this.#open.delete(client));
      // The pool listens only to idle connections. A connection that breaks in use fails its query
      // and then emits another error, which is handled here.
      client.on("error", (error) => log.debug(errorFields(error), "database.connection_broken"));
    });
    this.on("remove", () => this.#ask());
  }

  /**
   * Whether there is a pooler in front of the server. If so, limits are set for each transaction,
   * or enforced by the pool.
   */
  get isPooled(): boolean {
    return this.#isPooled;
  }

  /** The connections of the node, and the calls that wait for one. */
  get use(): { used: number; idle: number; waiting: number; max: number } {
    const { idleCount: idle, totalCount } = this;
    return { used: totalCount - idle, idle, waiting: this.#waiting.size, max: this.options.max };
  }

  /**
   * The first statement of a transaction behind a pooler. It sets limits that remain in force even
   * if this node dies.
   */
  get transactionLimits(): string {
    const { statementMsMax } = this.#settings;
    return `set local statement_timeout = ${statementMsMax};
      set local idle_in_transaction_session_timeout = ${2 * statementMsMax}`;
  }

  /**
   * Checks whether limits at the start of a connection take effect, because some poolers accept and
   * ignore them. Must be called before the first use.
   */
  async checkLimits(): Promise<void> {
    const { rows } = await this.query<{ setting: string }>(
      "select setting from pg_settings where name = 'statement_timeout'",
    );
    // A limit of the role or the database is equally effective, and also applies to single
    // statements of a node that has died.
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
    const startMs = performance.now();
    const settle = (end: () => void): void => {
      clearTimeout(late);
      this.#settings.recorder?.waited((performance.now() - startMs) / 1000);
      this.#waiting.delete(call);
      end();
    };
    this.#waiting.add(call);
    this.#ask();
    return promise;
  }

  /** Requests as many connections as there are waiting calls, within the size of the pool. */
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
    // pg-pool returns an idle connection a moment after the request.
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

  /** Fails the waiting calls, because the node has no connection that could become free. */
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
   * Prepares a connection for a caller. After its release, the connection is closed if there are
   * too many, or if its statement or transaction has not ended.
   */
  #handOut(client: pg.PoolClient): pg.PoolClient {
    const releaseToPool = client.release.bind(client);
    const release = (failure: Error | boolean | undefined): void => {
      const isLeftOpen = !failure && isInTransaction(client);
      if (isLeftOpen) this.#settings.log.warn({}, "database.transaction_left_open");
      const isClosed = Boolean(failure) || isLeftOpen || this.#open.size > this.options.max;
      // The connection is counted as closed now, not when it has ended, because other connections
      // may be released at the same moment.
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
   * Resolves to whether the statement of this connection ended by itself; if not, the statement is
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
   * Shrinks the pool, because the server has no more connections for this node. The pool then
   * requests one more connection each second.
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
 * Whether a statement is in progress. After an error, the server's last message may arrive a moment
 * later.
 */
function isBusy(client: pg.PoolClient): boolean {
  return "readyForQuery" in client && client.readyForQuery === false;
}

/**
 * Whether the caller has left a transaction open. Later statements would be part of the transaction
 * and would be lost with it.
 */
function isInTransaction(client: pg.PoolClient): boolean {
  const status = client.getTransactionStatus();
  return status === "T" || status === "E";
}
