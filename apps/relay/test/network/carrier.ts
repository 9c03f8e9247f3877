import { AsyncLocalStorage } from "node:async_hooks";

export type Fetch = (request: Request) => Response | Promise<Response>;

/** Sends a request to a relay and returns its answer. */
export type Carrier = (relay: Fetch, request: Request) => Promise<Response>;

/** Carries the requests of the running test; without a carrier a relay is called in this process. */
export const carrier = new AsyncLocalStorage<Carrier | undefined>();
