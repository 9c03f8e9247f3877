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

/** The part of a session that the page shows; the bearer is in no object that the page passes on. */
export interface ShownSession {
  readonly sessionId: string;
  readonly level: string;
  /** The time in ms until which it may act; null if it only reads. */
  readonly operateUntil: number | null;
}

export interface OperatorSession {
  /** Undefined until the page knows, null without a session. */
  readonly shown: ReadonlySignal<ShownSession | null | undefined>;
  readonly mayAct: ReadonlySignal<boolean>;
  readonly relay: RelayCaller;
  readonly getToken: TokenSource;
  /** Asks for a session by the cookie that an earlier page of this browser was given. */
  continueSession(): Promise<void>;
  openByCode(code: string): Promise<CallRefusal | undefined>;
  openByToken(masterToken: string): Promise<CallRefusal | undefined>;
  /** Returns why the session could not be ended; the browser is signed in then as before. */
  closeSession(): Promise<CallRefusal | undefined>;
}

/** A bearer is replaced this long before its end, so that no call meets its end on the way. */
const RENEW_BEFORE_MS = 20_000;

const relayClock = createRelayClock(browserEnvironment.fetch, browserEnvironment.now);

/** The relay reads its cookie only for requests that other pages cannot send. */
const fromOwnPage = fetchWith({ "x-agent-console": "1" }, relayClock.send);

/** The one bearer of the page; it is never stored. */
let bearer: { readonly token: string; readonly expiresAt: number } | undefined;

/** The session has ended, as against a relay that does not answer. */
const isDenied = ({ status }: CallRefusal) => status === 401 || status === 403;

/** Holds the part of the session that the page shows, and ends it together with the bearer. */
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
      // All times of the page are those of the browser's clock.
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

/** Holds the session of the page: opened by a code or the token, kept by the cookie. */
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
    // The cookie is now that of the new session, so the one before would stay open without a page.
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
      // Without an answer the person may still sign in.
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

/** Asks for the session again when a bearer is refused, because it may have been ended elsewhere. */
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
