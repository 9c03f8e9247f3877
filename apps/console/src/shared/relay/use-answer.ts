import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { CallRefusal } from "@agent/client";
import type { RelayEvent } from "@agent/wire";
import type { BodyOf, PageAnswer, RequestOf } from "./call-relay.ts";
import { getRetryMs } from "./get-retry-ms.ts";
import type { PageOperation } from "./operation-addresses.ts";
import { browserEnvironment, usePageContext, useRelayEvents } from "./page-context.ts";

/** The latest answer for a component, and the reason why there is no newer one. */
export interface LoadedAnswer<Body> {
  readonly body: Body | undefined;
  readonly refusal: CallRefusal | undefined;
  /** The time of the last answer in ms. */
  readonly at: number | undefined;
  readonly reload: () => void;
}

export interface ReloadRules {
  /** The prefixes of event types after which the answer is outdated. */
  readonly on?: readonly string[];
  /** Restricts the events to those that name this id. */
  readonly about?: string;
  /** The minimum time between two calls that are caused by events, in ms. */
  readonly minMs?: number;
  /** The interval in ms of calls without an event. */
  readonly everyMs?: number;
  /** A number that the component changes when it knows that the answer is outdated. */
  readonly version?: number;
}

/** Several changes together need only one read, and a page must stay below its rate limit. */
const DEFAULT_MIN_MS = 4_000;

/** Calls an operation for a component, and again when the answer is outdated. */
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

/** Reads with a function, which must be the same function as long as its answer would be the same. */
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
    // A new request must not show the answer of the previous one.
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
