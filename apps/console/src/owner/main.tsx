import { render } from "preact";
import "../style.css";
import "../shared/style/console.css";
import "./owner.css";
import { loadDevice } from "./device/device-store.ts";
import { takePairingCode } from "./device/take-pairing-code.ts";
import { reloadForCode } from "../shared/routing/reload-for-code.ts";
import { NoStoragePage, OwnerPage } from "./owner-page.tsx";

const code = takePairingCode(location, (address) => history.replaceState(null, "", address));
reloadForCode();
const root = document.querySelector("#page");
// A browser may deny storage to a page.
const page = await loadDevice().then(
  (kept) => <OwnerPage kept={kept} code={code} />,
  () => <NoStoragePage />,
);
if (root !== null) render(page, root);
