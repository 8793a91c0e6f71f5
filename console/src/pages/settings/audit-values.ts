import { platformLabel } from "../../parts/devices/device-words.tsx";
import { toolsetLabel } from "../../parts/toolset-label.ts";
import { findRegisterKind } from "../../register-kinds.ts";
import { CHANNEL_WORDS, WEEKDAYS } from "./channel-words.ts";
import {
	describeChoice,
	inUnit,
	POLICY_CHOICES,
	POLICY_FIELDS,
} from "./device-policy-fields.ts";
import { eventInWords } from "./event-words.ts";
import { durationWords } from "./intervals.ts";

const SECONDS: Record<string, number> = {
	seconds: 1,
	minutes: 60,
	hours: 3600,
};

const PROTOCOLS = { OIDC: "OpenID Connect", SAML: "SAML 2.0" };

const CHOICES: Record<string, Record<string, string>> = {
	identity_provider: PROTOCOLS,
	notification_channel: Object.fromEntries(
		Object.entries(CHANNEL_WORDS).map(([kind, { label }]) => [kind, label]),
	),
};

/**
 * Returns a value of an audit entry with the words and the unit that the field's form uses, such as
 * "15 minutes" for 900 seconds. Returns other values unchanged.
 */
export function valueInWords(
	kind: string | null,
	name: string,
	value: unknown,
): unknown {
	if (Array.isArray(value)) {
		return value.map((one) => valueInWords(kind, name, one));
	}
	if (typeof value === "number") return numberInWords(name, value);
	if (typeof value !== "string") return value;
	const choice = POLICY_CHOICES.find((one) => one.name === name);
	if (choice) return describeChoice(choice, value);
	if (name === "kind") return CHOICES[kind ?? ""]?.[value] ?? value;
	if (name === "toolsets") return toolsetLabel(value);
	if (name === "event_types") return eventInWords(value);
	if (name === "writable_registers") {
		return findRegisterKind(value)?.label ?? value;
	}
	return /(^|[._])platforms?$/.test(name) ? platformLabel(value) : value;
}

function numberInWords(name: string, value: number): unknown {
	const field = POLICY_FIELDS.find((one) => one.name === name);
	if (field) return inUnit(field, value);
	if (name === "digest_weekday") return WEEKDAYS[value - 1] ?? value;
	if (name === "max_silence_days") return durationWords(value * 86_400);
	const unit = SECONDS[name.slice(name.lastIndexOf("_") + 1)];
	return unit ? durationWords(value * unit) : value;
}
