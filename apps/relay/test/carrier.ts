import { AsyncLocalStorage } from "node:async_hooks";

export type Fetch = (request: Request) => Response | Promise<Response>;

/** Takes a request to a relay and brings its answer back. */
export type Carrier = (relay: Fetch, request: Request) => Promise<Response>;

/** The way of the requests of the test that runs; without one a relay is called in this process. */
export const carrier = new AsyncLocalStorage<Carrier | undefined>();
