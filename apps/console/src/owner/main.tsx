import { render } from "preact";
import "../style.css";
import "../shared/style/console.css";
import "./owner.css";
import { loadDevice } from "./device/device-store.ts";
import { takePairingCode } from "./device/take-pairing-code.ts";
import { OwnerPage } from "./owner-page.tsx";

const code = takePairingCode(location, (address) => history.replaceState(null, "", address));
const root = document.querySelector("#page");
if (root !== null) render(<OwnerPage kept={await loadDevice()} code={code} />, root);
