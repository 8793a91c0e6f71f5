import {
	Accordion,
	Alert,
	Group,
	Paper,
	Stack,
	Text,
	Title,
} from "@mantine/core";
import {
	IconChevronDown,
	IconClockPause,
	IconInfoCircle,
} from "@tabler/icons-react";
import { type ReactNode, useState } from "react";
import type { OutputOf } from "../../api.ts";
import { useChangeSearch } from "../../change-search.ts";
import {
	type Device,
	isCurrent,
	PostureBadge,
} from "../../parts/devices/device-words.tsx";
import { UntilExceptionEnd } from "../../parts/devices/exception-end.tsx";
import styles from "../../parts/devices/postures.module.css";
import { TextLink } from "../../parts/links.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { DateTime, RelativeTime } from "../../parts/time.tsx";
import { ByPolicy } from "./by-policy.tsx";
import { CheckActions, isToActOn } from "./check-actions.tsx";
import { checkValue } from "./check-value.ts";
import { checkLabel, inOrder, requirementOf } from "./checks.ts";
import { Evidence } from "./evidence.tsx";
import type { DeviceException } from "./exception-words.tsx";
import { HowToFix } from "./how-to-fix.tsx";
import { OpenTasks } from "./open-tasks.tsx";
import { useRequestedExceptions } from "./requested-exceptions.ts";

type ExplainedDevice = OutputOf<"getDevice">["device"];
type Posture = ExplainedDevice["postures"][number];

/** Shows the current state of each check, or the last known states if the device is silent. */
export function ChecksTab({
	device,
	opened,
}: {
	device: ExplainedDevice;
	/** The key of the check whose evidence is open. */
	opened: string | undefined;
}) {
	const changeSearch = useChangeSearch();
	const requested = useRequestedExceptions(device);
	const byKey = new Map(
		device.postures.map((posture) => [posture.check_key, posture]),
	);
	// The check that a link led to. Those that the reader opens later are in view already.
	const [linked] = useState(opened);
	const isNow = isCurrent(device);
	const isFailing = (key: string) => byKey.get(key)?.status === "FAIL";
	const keys = inOrder(byKey.keys());
	// Failing checks come first, because somebody has to fix them.
	const ordered = [
		...keys.filter(isFailing),
		...keys.filter((key) => !isFailing(key)),
	];
	return (
		<Stack gap="sm">
			{device.postures.length === 0 ? (
				<NothingYet device={device} />
			) : (
				!isNow && <NotCurrent device={device} />
			)}
			<Accordion
				variant="separated"
				styles={{
					item: {
						marginTop: 8,
						background: "var(--mantine-color-body)",
						borderColor: "var(--mantine-color-default-border)",
					},
				}}
				order={2}
				chevron={null}
				chevronSize={0}
				classNames={{ control: styles.checkControl ?? "" }}
				value={opened ?? null}
				onChange={(check) =>
					changeSearch((before) => ({ ...before, check: check ?? undefined }), {
						replace: true,
					})
				}
			>
				{ordered.map((key) => (
					<Check
						key={key}
						checkKey={key}
						posture={byKey.get(key)}
						device={device}
						requested={requested.get(key)}
						isLinked={key === linked}
					/>
				))}
			</Accordion>
		</Stack>
	);
}

/** Scrolls to a check that is in the lower half of the window or below it. */
function showLow(check: HTMLElement | null): void {
	// The router first scrolls a new page to its top.
	requestAnimationFrame(() => {
		const top = check?.getBoundingClientRect().top ?? 0;
		if (top > window.innerHeight / 2) check?.scrollIntoView();
	});
}

/**
 * Says why no check has a state yet and what to do. A list of checks that are all "Not reported"
 * would say neither.
 */
function NothingYet({ device }: { device: Device }) {
	return (
		<Alert
			color="gray"
			variant="outline"
			icon={<IconInfoCircle aria-hidden />}
			title={
				device.status === "PENDING"
					? "This device is not active yet"
					: "No report has come from this device"
			}
		>
			{device.status === "PENDING" ? (
				<>
					The agent has to enroll with the token first. Its checks then appear
					here.{" "}
					<TextLink
						to="/o/$org/devices/$id"
						params={{ org: device.organization_id, id: device.id }}
						search={{ tab: "enrollment" }}
						inherit
						underline="always"
					>
						See its enrollment
					</TextLink>
				</>
			) : device.status === "REVOKED" ? (
				"The device is revoked and can no longer report."
			) : (
				"The agent sends its first report after it has checked the device. The checks then appear here."
			)}
		</Alert>
	);
}

function NotCurrent({ device }: { device: Device }) {
	return (
		<Alert
			color="gray"
			variant="outline"
			icon={<IconClockPause aria-hidden />}
			title="These are the last known states, not the current ones"
		>
			{device.status === "REVOKED" ? (
				"The device is revoked and can no longer report."
			) : device.status === "PENDING" ? (
				"The device has to enroll again before it can report."
			) : (
				<>
					{device.last_reported_at && (
						<>
							The device last reported{" "}
							<RelativeTime value={device.last_reported_at} />.{" "}
						</>
					)}
					Until it reports again, its checks do not count as passing.
				</>
			)}
		</Alert>
	);
}

function Check({
	checkKey,
	posture,
	device,
	requested,
	isLinked,
}: {
	checkKey: string;
	posture: Posture | undefined;
	device: ExplainedDevice;
	requested: DeviceException | undefined;
	/** True for the check that the reader came for. */
	isLinked: boolean;
}) {
	const name = checkLabel(checkKey);
	const means = requirementOf(checkKey);
	if (!posture) {
		return (
			<Paper withBorder mt={8}>
				<Summary title={<Title order={2}>{name}</Title>} means={means}>
					<StatusBadge tone="neutral" label="Not reported" />
				</Summary>
			</Paper>
		);
	}
	const value = checkValue(posture, device.platform);
	return (
		<Accordion.Item
			value={checkKey}
			ref={isLinked ? showLow : undefined}
			style={{ scrollMarginTop: 64 }}
		>
			<Summary
				title={<Accordion.Control>{name}</Accordion.Control>}
				means={means}
				canOpen
			>
				<Group gap="xs" justify="flex-end">
					{value && <Text size="sm">{value}</Text>}
					<PostureBadge status={posture.status} isCurrent={isCurrent(device)} />
				</Group>
				<Text size="xs" c="dimmed">
					since <DateTime value={posture.since} />
				</Text>
				<ByPolicy posture={posture} device={device} />
				{requested && isToActOn(posture) && (
					<Text size="xs">
						exception requested by {requested.requested_by?.name ?? "somebody"},{" "}
						<UntilExceptionEnd value={requested.ends_at} />
					</Text>
				)}
			</Summary>
			<Accordion.Panel>
				<Stack gap="sm">
					<ExceptionLink
						device={device}
						id={posture.exception_id}
						label="The exception for it"
					/>
					{isToActOn(posture) && (
						<ExceptionLink
							device={device}
							id={requested?.id}
							label="The exception that is requested"
						/>
					)}
					{posture.nonconformity_id && (
						<TextLink
							to="/o/$org/r/$kind/$id"
							params={{
								org: device.organization_id,
								kind: "nonconformity",
								id: posture.nonconformity_id,
							}}
							size="sm"
						>
							Nonconformity {posture.nonconformity_reference_id}
						</TextLink>
					)}
					<HowToFix reason={posture.reason} remediation={posture.remediation} />
					{posture.open_tasks && (
						<OpenTasks tasks={posture.open_tasks} checkName={name} />
					)}
					<CheckActions
						posture={posture}
						device={device}
						isRequested={requested !== undefined}
					/>
					<Text size="sm" c="dimmed">
						Last observed <RelativeTime value={posture.observed_at} />.{" "}
						<TextLink
							to="/o/$org/devices/$id"
							params={{ org: device.organization_id, id: device.id }}
							search={{ tab: "history", check: checkKey }}
							inherit
							underline="always"
						>
							History of this check
						</TextLink>
					</Text>
					<Evidence evidence={posture.evidence} checkName={name} />
				</Stack>
			</Accordion.Panel>
		</Accordion.Item>
	);
}

function ExceptionLink({
	device,
	id,
	label,
}: {
	device: Device;
	id: string | null | undefined;
	label: string;
}) {
	return (
		id && (
			<TextLink
				to="/o/$org/devices/exceptions/$id"
				params={{ org: device.organization_id, id }}
				size="sm"
			>
				{label}
			</TextLink>
		)
	);
}

/**
 * The part of a check that is always visible. Its heading is only the name, so that a list of the
 * headings is short. A click anywhere on it opens the check.
 */
function Summary({
	title,
	means,
	canOpen = false,
	children,
}: {
	title: ReactNode;
	means: string;
	canOpen?: boolean;
	children: ReactNode;
}) {
	return (
		<Group
			justify="space-between"
			gap="xs"
			wrap="nowrap"
			className={styles.check ?? ""}
		>
			<Group justify="space-between" gap="xs" flex={1}>
				<div className={styles.checkName}>
					{title}
					<Text size="sm" c="dimmed">
						{means}
					</Text>
				</div>
				<div className={styles.state}>{children}</div>
			</Group>
			<IconChevronDown
				size={16}
				aria-hidden
				className={styles.checkChevron}
				visibility={canOpen ? undefined : "hidden"}
			/>
		</Group>
	);
}
