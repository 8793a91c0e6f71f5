import { Button, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call, type OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { dayOf, endOfDay, formatDay } from "../../parts/days.ts";
import { AskException } from "../../parts/devices/ask-exception.tsx";
import { deviceName } from "../../parts/devices/device-words.tsx";
import { ButtonLink } from "../../parts/links.tsx";
import { forgetReadings, operationQuery } from "../../queries.ts";
import { checkLabel } from "./checks.ts";
import { ExceptionForm } from "./exception-form.tsx";
import { MyDevicesLink } from "./my-devices-link.tsx";

type ExplainedDevice = OutputOf<"getDevice">["device"];
type Posture = ExplainedDevice["postures"][number];

/** The states by the policy in which a reader may want to act. */
const TO_ACT_ON: readonly (string | null)[] = [
	"FAILING",
	"IN_GRACE",
	"UNKNOWN",
];

/** Returns true if a reader may want to act on the check. */
export const isToActOn = ({ check_state }: Posture): boolean =>
	TO_ACT_ON.includes(check_state ?? null);

/**
 * Offers what can be done about a check that a device does not pass. New records are filled in and
 * linked to the device.
 */
export function CheckActions({
	posture,
	device,
	isRequested,
}: {
	posture: Posture;
	device: ExplainedDevice;
	/** True if an exception from the check waits for a decision. */
	isRequested: boolean;
}) {
	const { organization, organizationId, day, ...may } = useOrganization();
	const { mayWrite, mayWriteKind, mayAdmin } = may;
	const [dialog, setDialog] = useState<"exception" | "ask">();
	if (day || !isToActOn(posture)) return null;
	// A membership that may write only some registers writes nothing about devices.
	const mayExcuse = mayWrite && organization.writable_registers === null;
	const close = () => setDialog(undefined);
	const button = { size: "compact-sm", variant: "default" } as const;
	return (
		<>
			<Group gap="xs">
				{!posture.nonconformity_id && mayWriteKind("nonconformity") && (
					<ButtonLink
						to="/o/$org/r/$kind/new"
						params={{ org: organizationId, kind: "nonconformity" }}
						search={newNonconformity(posture, device)}
						{...button}
					>
						Create nonconformity
					</ButtonLink>
				)}
				{mayWriteKind("task") && (
					<ButtonLink
						to="/o/$org/r/$kind/new"
						params={{ org: organizationId, kind: "task" }}
						search={newTask(posture, device)}
						{...button}
					>
						Create task
					</ButtonLink>
				)}
				{mayAdmin && device.owner_id && device.status === "ACTIVE" && (
					<Button {...button} onClick={() => setDialog("ask")}>
						Ask the owner …
					</Button>
				)}
				{!isRequested && mayExcuse && (
					<Button {...button} onClick={() => setDialog("exception")}>
						{mayAdmin ? "Add exception …" : "Request an exception …"}
					</Button>
				)}
				{!isRequested && !mayExcuse && (
					<OwnException posture={posture} device={device} />
				)}
			</Group>
			{dialog === "exception" && (
				<ExceptionForm
					checkKey={posture.check_key}
					device={device}
					onClose={close}
				/>
			)}
			{dialog === "ask" && (
				<MyDevicesLink
					title={`Ask ${device.owner_name ?? "the owner"} to fix it`}
					device={device}
					onClose={close}
				/>
			)}
		</>
	);
}

/** Offers to ask for an exception to readers who may not add one, if the device is their own. */
function OwnException({
	posture: { check_key },
	device,
}: {
	posture: Posture;
	device: ExplainedDevice;
}) {
	const { organizationId: organization_id } = useOrganization();
	const [isAsking, setAsking] = useState(false);
	const { data: overview } = useQuery(
		operationQuery("getOverview", { organization_id }),
	);
	const own = overview?.mine?.person_id;
	if (!own || own !== device.owner_id) return null;
	return (
		<>
			<Button
				size="compact-sm"
				variant="default"
				onClick={() => setAsking(true)}
			>
				Ask for an exception …
			</Button>
			{isAsking && (
				<AskException
					checkKey={check_key}
					device={deviceName(device)}
					ask={(reason, lastDay) =>
						call("requestOwnDeviceException", {
							device_id: device.id,
							check_key,
							reason,
							ends_at: new Date(
								Date.parse(endOfDay(lastDay)) - 1000,
							).toISOString(),
						})
					}
					onAsked={() => forgetReadings()}
					onClose={() => setAsking(false)}
				/>
			)}
		</>
	);
}

function newNonconformity(posture: Posture, device: ExplainedDevice) {
	return {
		title: titleOf(posture, device),
		description: describe(posture, device),
		date_identified: dayOf(new Date()),
		...(device.owner_id ? { owner_id: device.owner_id } : {}),
		linked_to: device.id,
	};
}

function newTask(posture: Posture, device: ExplainedDevice) {
	const linked = [device.id, posture.nonconformity_id].filter(Boolean);
	return {
		name: titleOf(posture, device),
		// The advice has backticks around commands, and a description is plain text.
		description: [
			describe(posture, device),
			posture.remediation?.replaceAll("`", ""),
		]
			.filter(Boolean)
			.join("\n\n"),
		...(device.owner_id ? { assigned_to_id: device.owner_id } : {}),
		...(posture.check_state === "IN_GRACE" && posture.in_grace_until
			? { deadline: dayOf(new Date(posture.in_grace_until)) }
			: {}),
		linked_to: linked.join(","),
	};
}

const titleOf = ({ check_key }: Posture, device: ExplainedDevice) =>
	`${checkLabel(check_key)} on ${deviceName(device)}`;

function describe(
	{ check_key, status, since, reason }: Posture,
	device: ExplainedDevice,
): string {
	const state = status === "FAIL" ? "has failed" : "could not be determined";
	const why = reason
		? ` ${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`
		: "";
	return `The check “${checkLabel(check_key)}” ${state} on ${deviceName(device)} since ${formatDay(dayOf(new Date(since)))}.${why}`;
}
