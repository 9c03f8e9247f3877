import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { PairedDevice } from "./device/device-store.ts";

/** The device by which this page acts, and the relay that serves it. */
export interface OwnerContext {
  readonly device: PairedDevice;
  /** The did:key of the relay, which votes name. */
  readonly relayDid: string;
  readonly relayName: string;
  /** Shows that the device has ended. */
  readonly onEnded: () => void;
}

const Context = createContext<OwnerContext | null>(null);
export const OwnerContextProvider = Context.Provider;

export function useOwnerContext(): OwnerContext {
  const context = useContext(Context);
  if (context === null) throw new Error("the part is outside of the owner's page");
  return context;
}
