import { type ReadonlySignal, signal } from "@preact/signals";
import type { CallRefusal } from "@agent/client";
import {
  type BodyOf,
  callForBody,
  createRelayCaller,
  fetchWith,
  type PageAnswer,
  type RelayCaller,
} from "../shared/relay/call-relay.ts";
import { createRelayClock } from "../shared/relay/relay-clock.ts";
import type { TokenSource } from "../shared/relay/follow-relay-events.ts";
import { browserEnvironment } from "../shared/relay/page-context.ts";

type SessionBody = BodyOf<"renewConsoleSession">;

/** The part of a session that the page shows; the page never passes on an object with the bearer token. */
export interface ShownSession {
  readonly sessionId: string;
  readonly level: string;
  /** The time in ms until which it may act; null if it is read-only. */
  readonly operateUntil: number | null;
}

export interface OperatorSession {
  /** Undefined until it is known; null without a session. */
  readonly shown: ReadonlySignal<ShownSession | null | undefined>;
  readonly mayAct: ReadonlySignal<boolean>;
  readonly relay: RelayCaller;
  readonly getToken: TokenSource;
  /** Continues the session of the cookie that an earlier page received in this browser. */
  continueSession(): Promise<void>;
  openByCode(code: string): Promise<CallRefusal | undefined>;
  openByToken(masterToken: string): Promise<CallRefusal | undefined>;
  /** Returns why the session could not be ended; the browser then stays signed in. */
  closeSession(): Promise<CallRefusal | undefined>;
}

/** A bearer token is replaced this long before it expires, so that it does not expire during a call. */
const RENEW_BEFORE_MS = 20_000;

const relayClock = createRelayClock(browserEnvironment.fetch, browserEnvironment.now);

/** The relay accepts its cookie only with this header, which other sites' pages cannot send. */
const fromOwnPage = fetchWith({ "x-agent-console": "1" }, relayClock.send);

/** The page's only bearer token; it is never stored. */
let bearer: { readonly token: string; readonly expiresAt: number } | undefined;

/** Whether the session has ended, in contrast to a relay that does not answer. */
const isDenied = ({ status }: CallRefusal) => status === 401 || status === 403;

/** Holds the visible part of the session, and ends it together with the bearer token. */
function createSessionState() {
  const shown = signal<ShownSession | null | undefined>(undefined);
  const mayAct = signal(false);
  let cancelActing = () => {};

  function end(): void {
    cancelActing();
    bearer = undefined;
    shown.value = null;
    mayAct.value = false;
  }

  function accept(answer: PageAnswer<SessionBody>): void {
    if (answer.ok) {
      cancelActing();
      const { session_id, level, operate_until, token, expires_at } = answer.body;
      // The page compares all times with the browser's clock.
      const aheadMs = relayClock.aheadMs();
      const operateUntil = operate_until && operate_until - aheadMs;
      bearer = { token, expiresAt: expires_at - aheadMs };
      shown.value = { sessionId: session_id, level, operateUntil };
      mayAct.value = level === "operate";
      const leftMs = (operateUntil ?? 0) - browserEnvironment.now();
      if (mayAct.value)
        cancelActing = browserEnvironment.schedule(leftMs, () => (mayAct.value = false));
    } else if (isDenied(answer)) end();
  }

  return { shown, mayAct, accept, end };
}

/** Holds the page's session, which is opened with a code or the master token and continued by the cookie. */
export function createOperatorSession(): OperatorSession {
  const { shown, mayAct, accept, end } = createSessionState();
  let renewing: Promise<PageAnswer<SessionBody>> | undefined;

  function renew(): Promise<PageAnswer<SessionBody>> {
    renewing ??= callForBody("renewConsoleSession", {}, { fetch: fromOwnPage }).then((answer) => {
      renewing = undefined;
      accept(answer);
      return answer;
    });
    return renewing;
  }

  async function getToken(isRefused: boolean): ReturnType<TokenSource> {
    const known = bearer;
    if (
      !isRefused &&
      known !== undefined &&
      browserEnvironment.now() < known.expiresAt - RENEW_BEFORE_MS
    ) {
      return { ok: true, token: known.token };
    }
    const answer = await renew();
    return answer.ok ? { ok: true, token: answer.body.token } : answer;
  }

  async function open(
    body: { readonly code?: string },
    token?: string,
  ): Promise<CallRefusal | undefined> {
    const before = shown.value?.sessionId;
    const options = { fetch: relayClock.send, ...(token !== undefined && { token }) };
    const answer = await callForBody("openConsoleSession", { body }, options);
    if (!answer.ok) return answer;
    accept(answer);
    // The cookie now belongs to the new session, so the previous one would remain open without a page.
    if (before !== undefined && mayAct.value) {
      await relay.call("revokeConsoleSession", { params: { sessionId: before } });
    }
    return undefined;
  }

  const relay = createEndingCaller(
    createRelayCaller(() => getToken(false)),
    async () => {
      bearer = undefined;
      await renew();
    },
  );
  return {
    shown,
    mayAct,
    relay,
    getToken,
    async continueSession() {
      const answer = await renew();
      // If the relay did not answer, the user can still sign in.
      if (!answer.ok && shown.value === undefined) shown.value = null;
    },
    openByCode: (code) => open({ code }),
    openByToken: (masterToken) => open({}, masterToken),
    async closeSession() {
      const answer = await callForBody("closeConsoleSession", {}, { fetch: fromOwnPage });
      if (!answer.ok && !isDenied(answer)) return answer;
      end();
      return undefined;
    },
  };
}

/** Renews the session when a bearer token is refused, because it may have been ended elsewhere. */
function createEndingCaller(caller: RelayCaller, onRefused: () => Promise<void>): RelayCaller {
  const check = async <Answer extends PageAnswer<unknown>>(answer: Answer): Promise<Answer> => {
    if (!answer.ok && answer.status === 401) await onRefused();
    return answer;
  };
  return {
    call: async (name, request, extras) => check(await caller.call(name, request, extras)),
    callText: async (name, request) => check(await caller.callText(name, request)),
  };
}
