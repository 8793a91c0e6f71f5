import { Accordion, Alert, Paper, Stack, Text, Title } from "@mantine/core";
import { IconClockPause } from "@tabler/icons-react";
import { useId } from "react";
import { PLATFORM_NAMES } from "../../../../src/devices/terms.ts";
import type { MyCheck, MyDevice } from "../../../../src/my-devices/page.ts";
import { BY_EXCEPTION } from "../../parts/devices/device-words.tsx";
import { StatusBadge, type Tone } from "../../parts/status-badge.tsx";
import { DateTime, RelativeTime } from "../../parts/time.tsx";
import { checkLabel, inOrder, requirementOf } from "../devices/checks.ts";
import { Evidence } from "../devices/evidence.tsx";
import { HowToFix, WithCommands } from "../devices/how-to-fix.tsx";
import { ExceptionOf } from "./exception-request.tsx";

const STATES: Record<string, { tone: Tone; label: string }> = {
	FAILING: { tone: "bad", label: "Has to be fixed" },
	IN_GRACE: { tone: "warning", label: "Fix it soon" },
	UNKNOWN: { tone: "warning", label: "Could not be determined" },
	STALE: { tone: "warning", label: "No recent report" },
	NOT_REPORTED: { tone: "warning", label: "Not reported" },
	EXCEPTED: { tone: "neutral", label: "Excepted" },
	PASSING: { tone: "good", label: "Fine" },
	NOT_APPLICABLE: { tone: "neutral", label: "Not required" },
};

/** States about which the reader can do something. */
const TO_DO = ["FAILING", "IN_GRACE", "UNKNOWN"];

/** States of checks whose result the agent does not send. */
const WITHOUT_REPORT = ["STALE", "NOT_REPORTED"];

/** Returns true if the reader can do something about a check of the device. */
export function isToFix({ checks }: MyDevice): boolean {
	return checks.some(({ state }) => state && TO_DO.includes(state));
}

/** Returns, for example, "macOS 26.1". Windows names itself in its version. */
function systemOf({ platform, os_version }: MyDevice): string {
	const name = platform ? PLATFORM_NAMES[platform] : "";
	return os_version?.startsWith(name)
		? os_version
		: [name, os_version].filter(Boolean).join(" ");
}

/** Shows one device of the reader: first what has to be fixed, then the other checks. */
export function DeviceSection({
	device,
	name,
}: {
	device: MyDevice;
	name: string;
}) {
	const heading = useId();
	const byKey = new Map(device.checks.map((one) => [one.check_key, one]));
	const checks = inOrder(byKey.keys()).flatMap((key) => byKey.get(key) ?? []);
	const toDo = checks.filter(({ state }) => state && TO_DO.includes(state));
	// A device that reports nothing says so in its summary. Here, the others report and these do not.
	const silent = device.is_reporting
		? checks.filter(({ state }) => state && WITHOUT_REPORT.includes(state))
		: [];
	const others = checks.filter(
		(check) => !toDo.includes(check) && !silent.includes(check),
	);
	return (
		<Paper
			component="section"
			withBorder
			p="md"
			aria-labelledby={heading}
			bg="var(--mantine-color-body)"
		>
			<Stack gap="md">
				<div>
					<Title order={2} id={heading} style={{ overflowWrap: "anywhere" }}>
						{name}
					</Title>
					<Text size="sm" c="dimmed">
						{systemOf(device)}
						{device.last_seen_at && (
							<>
								, last seen <RelativeTime value={device.last_seen_at} />
							</>
						)}
					</Text>
				</div>
				<Summary device={device} toDo={toDo.length} />
				{toDo.map((check) => (
					<Stack key={check.check_key} gap="xs">
						<Heading check={check} />
						<HowToFix reason={check.reason} remediation={check.remediation} />
						<FoldedEvidence check={check} />
						<ExceptionOf device={device} check={check} />
					</Stack>
				))}
				{silent.length > 0 && <Silent device={device} checks={silent} />}
				{others.length > 0 && (
					<Accordion variant="contained" order={3}>
						<Accordion.Item value="others">
							<Accordion.Control>
								<Text fw={500}>
									{others.length < checks.length
										? "The other checks"
										: "All checks"}{" "}
									({others.length})
								</Text>
							</Accordion.Control>
							<Accordion.Panel>
								<Stack gap="md">
									{others.map((check) => (
										<Stack key={check.check_key} gap="xs">
											<Heading check={check} />
											<ExceptionOf device={device} check={check} />
										</Stack>
									))}
								</Stack>
							</Accordion.Panel>
						</Accordion.Item>
					</Accordion>
				)}
			</Stack>
		</Paper>
	);
}

/** Hides the evidence until it is opened, because the advice above it is enough for most people. */
function FoldedEvidence({ check }: { check: MyCheck }) {
	return (
		<Accordion variant="contained">
			<Accordion.Item value="evidence">
				<Accordion.Control
					aria-label={`What the device reported: ${checkLabel(check.check_key)}`}
				>
					<Text size="sm">What the device reported</Text>
				</Accordion.Control>
				<Accordion.Panel>
					<Evidence
						evidence={check.evidence}
						checkName={checkLabel(check.check_key)}
					/>
				</Accordion.Panel>
			</Accordion.Item>
		</Accordion>
	);
}

/** Names the checks that the agent does not report, and says what the reader can do about it. */
function Silent({ device, checks }: { device: MyDevice; checks: MyCheck[] }) {
	const command =
		device.platform === "WINDOWS"
			? "`assay-agent once --force`"
			: "`sudo assay-agent once --force`";
	return (
		<Alert
			color="gray"
			variant="outline"
			icon={<IconClockPause aria-hidden />}
			title={
				checks.length === 1
					? "One check has no recent report"
					: `${checks.length} checks have no recent report`
			}
		>
			<Stack gap="xs">
				<Text size="sm">
					The device reports, but the agent did not send these results. It may
					be too old, or lack rights. If you have administrator rights on the
					device, run <WithCommands text={command} /> there. Otherwise, or if
					this does not help, ask the people who look after security.
				</Text>
				{checks.map((check) => (
					<Stack key={check.check_key} gap={4} align="flex-start">
						<Heading check={check} />
						<ExceptionOf device={device} check={check} />
					</Stack>
				))}
			</Stack>
		</Alert>
	);
}

function Summary({ device, toDo }: { device: MyDevice; toDo: number }) {
	if (device.status === "PENDING") {
		return (
			<StatusBadge tone="neutral" label="The agent is not installed yet" />
		);
	}
	if (!device.is_reporting) {
		return (
			<Text size="sm">
				The device has not reported recently. What you see is the last known
				state. Switch it on, and connect it to the internet.
			</Text>
		);
	}
	if (device.compliance === "COMPLIANT") {
		return (
			<StatusBadge
				tone="good"
				label={
					device.compliant_by_exception
						? BY_EXCEPTION.label
						: "Everything is fine"
				}
			/>
		);
	}
	return toDo > 0 ? (
		<Text size="sm" fw={500}>
			{toDo === 1 ? "One check needs you." : `${toDo} checks need you.`} After
			you have changed something, it can take an hour until this page shows it.
		</Text>
	) : null;
}

function Heading({ check }: { check: MyCheck }) {
	const { tone, label } = STATES[check.state ?? ""] ?? {
		tone: "neutral",
		label: "Not judged",
	};
	return (
		<Stack gap={4} align="flex-start">
			<Title order={3}>{checkLabel(check.check_key)}</Title>
			<Text size="sm" c="dimmed">
				{requirementOf(check.check_key)}
			</Text>
			<StatusBadge tone={tone} label={label} />
			{check.since && (
				<Text size="sm">
					Since <DateTime value={check.since} />
					{check.in_grace_until && (
						<>
							. Fix it until <DateTime value={check.in_grace_until} />
						</>
					)}
				</Text>
			)}
		</Stack>
	);
}
