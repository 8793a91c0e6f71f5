import type { Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "../check.ts";
import {
	type Answer,
	ask,
	integer,
	part,
	text,
	whyUnread,
} from "./powershell.ts";
import { isProductOn } from "./security-center.ts";

/**
 * Reads the active store, which holds the rules in force after group policy and device management
 * were applied.
 */
export const FIREWALL_SCRIPT = `
@{
  profiles = Read-Part { Get-NetFirewallProfile -PolicyStore ActiveStore |
    ForEach-Object { @{ name = [string] $_.Name; enabled = [int] $_.Enabled; inbound = [int] $_.DefaultInboundAction } } }
  service = Read-Part { @{ running = ((Get-Service -Name mpssvc).Status -eq 'Running') } }
  products = Read-Part { Get-CimInstance -Namespace root/SecurityCenter2 -ClassName FirewallProduct | Select-Object 'productState' }
}
`;

const NAMES = ["domain", "private", "public"];
const ALLOW = 2;

/**
 * Returns PASS if the firewall runs with all three profiles on and none of them lets everything in.
 * Another firewall also passes if it has reported to the Security Center that it is on.
 */
export async function firewall(host: Host): Promise<CheckOutcome> {
	const asked = await ask(host, FIREWALL_SCRIPT);
	if ("trouble" in asked) return asked.trouble;
	const profiles = part(asked.answer, "profiles");
	if (hasOtherFirewall(asked.answer)) {
		return pass({ engine: "third_party", enabled: true });
	}
	if (profiles.kind !== "values") return unknown(whyUnread(host, profiles));

	const state: Record<string, boolean> = {};
	let isOpen = false;
	for (const profile of profiles.values) {
		const name = text(profile.name)?.toLowerCase() ?? "";
		const enabled = integer(profile.enabled);
		const inbound = integer(profile.inbound);
		if (!NAMES.includes(name) || (enabled !== 0 && enabled !== 1)) {
			return unknown("unrecognized_output");
		}
		state[`${name}_profile_enabled`] = enabled === 1;
		if (enabled === 1 && inbound === ALLOW) isOpen = true;
	}
	if (Object.keys(state).length !== NAMES.length) {
		return unknown("unrecognized_output");
	}
	const evidence = {
		engine: "windows_firewall",
		...state,
		inbound_allowed_by_default: isOpen,
	};
	if (isOpen || Object.values(state).includes(false)) return fail(evidence);

	const service = part(asked.answer, "service");
	const running =
		service.kind === "values" ? service.values[0]?.running : undefined;
	if (running === true) return pass({ ...evidence, service_running: true });
	return running === false
		? fail({ ...evidence, service_running: false })
		: unknown("service_state_unknown", evidence);
}

function hasOtherFirewall(answer: Answer): boolean {
	const products = part(answer, "products");
	return (
		products.kind === "values" &&
		products.values.some((product) => isProductOn(product.productState))
	);
}
