import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { PairedDevice } from "./device/device-store.ts";

/** The device for which this page acts, and the relay that serves the page. */
export interface OwnerContext {
  readonly device: PairedDevice;
  /** The relay's did:key, which is part of each vote. */
  readonly relayDid: string;
  readonly relayName: string;
  /** Shows that the device was ended. */
  readonly onEnded: () => void;
}

const Context = createContext<OwnerContext | null>(null);
export const OwnerContextProvider = Context.Provider;

export function useOwnerContext(): OwnerContext {
  const context = useContext(Context);
  if (context === null) throw new Error("the part is outside of the owner's page");
  return context;
}
