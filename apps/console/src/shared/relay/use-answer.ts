import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { CallRefusal } from "@agent/client";
import type { RelayEvent } from "@agent/wire";
import type { BodyOf, PageAnswer, RequestOf } from "./call-relay.ts";
import type { PageOperation } from "./operation-addresses.ts";
import { browserEnvironment, usePageContext, useRelayEvents } from "./page-context.ts";

/** The last answer that a part of a page has, and why there is no newer one. */
export interface LoadedAnswer<Body> {
  readonly body: Body | undefined;
  readonly refusal: CallRefusal | undefined;
  /** The time of the last answer in ms. */
  readonly at: number | undefined;
  readonly reload: () => void;
}

export interface ReloadRules {
  /** The beginnings of the types of events after which the answer is old. */
  readonly on?: readonly string[];
  /** Only events that name this id. */
  readonly about?: string;
  /** The shortest time between two calls because of events, in ms. */
  readonly minMs?: number;
  /** Calls again after so long in any case, in ms. */
  readonly everyMs?: number;
  /** A number that changes when the part knows that the answer is old. */
  readonly version?: number;
}

/** Many changes at once are one reason to read again, and a page must stay below the limit of its calls. */
const DEFAULT_MIN_MS = 4_000;
const RETRY_MS = 2_000;

/** Reads an operation for a part of a page, and again when its answer is old. */
export function useAnswer<Name extends PageOperation>(
  name: Name,
  request: RequestOf<Name>,
  rules: ReloadRules = {},
): LoadedAnswer<BodyOf<Name>> {
  const { relay } = usePageContext();
  const key = JSON.stringify([name, request]);
  const load = useCallback(() => relay.call(name, request), [relay, key]);
  return useLoaded(load, rules);
}

/** Reads by a function, which must stay the same while its answer would. */
export function useLoaded<Body>(
  load: () => Promise<PageAnswer<Body>>,
  { on = [], about, minMs = DEFAULT_MIN_MS, everyMs, version = 0 }: ReloadRules = {},
): LoadedAnswer<Body> {
  const [state, setState] = useState<Omit<LoadedAnswer<Body>, "reload">>(NOTHING);
  const [turn, setTurn] = useState(0);
  const loadOf = useRef(load);
  const lastAt = useRef(0);
  const cancelNext = useRef<(() => void) | undefined>(undefined);
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  const reloadSoon = useCallback(
    (event: RelayEvent) => {
      if (about !== undefined && !Object.values(event).includes(about)) return;
      if (cancelNext.current !== undefined) return;
      const waitMs = Math.max(50, lastAt.current + minMs - browserEnvironment.now());
      cancelNext.current = browserEnvironment.schedule(waitMs, reload);
    },
    [about, minMs, reload],
  );
  useRelayEvents(on, reloadSoon);
  useEffect(() => {
    // Another question must not show the answer of the one before.
    if (loadOf.current !== load) setState(NOTHING);
    loadOf.current = load;
    lastAt.current = browserEnvironment.now();
    cancelNext.current?.();
    cancelNext.current = undefined;
    let isCurrent = true;
    let cancel = () => {};
    void load().then((answer) => {
      if (!isCurrent) return;
      setState((before) => toState(before, answer));
      const againMs = answer.ok ? everyMs : getRetryMs(answer);
      if (againMs !== undefined) cancel = browserEnvironment.schedule(againMs, reload);
    });
    return () => {
      isCurrent = false;
      cancel();
    };
  }, [load, turn, version, everyMs, reload]);
  useEffect(() => () => cancelNext.current?.(), []);
  return { ...state, reload };
}

const NOTHING = { body: undefined, refusal: undefined, at: undefined } as const;

function toState<Body>(
  before: Omit<LoadedAnswer<Body>, "reload">,
  answer: PageAnswer<Body>,
): Omit<LoadedAnswer<Body>, "reload"> {
  return answer.ok
    ? { body: answer.body, refusal: undefined, at: browserEnvironment.now() }
    : { ...before, refusal: answer };
}

/** Returns after which time a refused read may succeed; undefined if the answer would be the same. */
function getRetryMs({ status, retryAfterSeconds }: CallRefusal): number | undefined {
  if (retryAfterSeconds !== undefined) return retryAfterSeconds * 1_000;
  return status === 0 || status >= 500 ? RETRY_MS : undefined;
}
