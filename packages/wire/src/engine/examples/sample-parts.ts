/** A point in time and a duration, in ms. */
export const sampleTimes = { now: 1_767_330_894_000, duration: 60_000 } as const;

export const WORKER = "01890000-0000-7000-8000-0000000000a1";
export const SUBMITTER = "01890000-0000-7000-8000-0000000000b2";
export const ARBITER = "01890000-0000-7000-8000-0000000000c3";
export const TASK = "01890000-0000-7000-8000-0000000000d4";
export const PARENT = "01890000-0000-7000-8000-0000000000d5";
export const RELAY = "01890000-0000-7000-8000-0000000000e5";
export const PEER = "01890000-0000-7000-8000-0000000000e6";
export const ROW = "01890000-0000-7000-8000-0000000000f7";
export const DID = "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp";
export const KEY = "3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29";
export const HASH = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
export const SIGNATURE = `${"ZXhhbXBsZS1vZi1hLXNpZ25hdHVyZS1pbi1iYXNlNjR1cmw_".repeat(2).slice(0, 85)}A`;
export const TOKEN = "eyJhbGciOiJFZERTQSJ9.eyJpc3MiOiIuLi4ifQ.c2lnbmF0dXJl";
export const TIME = "2026-01-02T05:14:54.000Z";

/** A signed head of a log. */
export const CHECKPOINT = `relay.example/log\n42\n${"A".repeat(43)}=\n\n— relay.example/log ${"A".repeat(92)}\n`;
