import { Group, Paper, SimpleGrid, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { MAX_PAGE_SIZE } from "../../../../src/records/page-sizes.ts";
import {
	type Device,
	PostureBadge,
} from "../../parts/devices/device-words.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { TextLink } from "../../parts/links.tsx";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { DateTime } from "../../parts/time.tsx";
import { formatTime } from "../../parts/time-formats.ts";
import { operationQuery } from "../../queries.ts";
import { checkLabel, inOrder } from "./checks.ts";
import { type Silence, type Span, silenceAt } from "./history.ts";
import { useMaxSilence } from "./use-max-silence.ts";

/** Shows the state of every check at a time in the past, as evidence for an auditor. */
export function AsOf({ device, at }: { device: Device; at: Date }) {
	const { maxSilenceMs } = useMaxSilence(device);
	const atMs = at.getTime();
	const states = useQuery(
		operationQuery("listDevicePostures", {
			device_id: device.id,
			as_of: at.toISOString(),
			size: MAX_PAGE_SIZE,
		}),
	);
	const title = `As of ${formatTime(at.toISOString())}`;
	const spans = states.data?.device_postures;
	const silence = silenceAt(states.data?.silences ?? [], atMs);
	return (
		<Paper withBorder p="md" component="section" aria-label={title}>
			<Title order={2} mb="sm">
				{title}
			</Title>
			{states.isPending && <RowsSkeleton rows={3} />}
			{states.isError && (
				<ErrorState error={states.error} onRetry={states.refetch} />
			)}
			{spans?.length === 0 && (
				<Text>Nothing was known about this device at that time.</Text>
			)}
			{spans && spans.length > 0 && (
				<SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="md">
					{inOrder(spans.map(({ check_key }) => check_key)).map((key) => (
						<State
							key={key}
							checkKey={key}
							span={spans.find(({ check_key }) => check_key === key)}
							device={device}
							silence={silence}
							staleBeforeMs={atMs - maxSilenceMs}
							atMs={atMs}
						/>
					))}
				</SimpleGrid>
			)}
		</Paper>
	);
}

/**
 * Shows the state of a check at that time. In a silence of the device, or if nobody confirmed the
 * status for longer than the organization permits, it is only the last one known.
 */
function State({
	checkKey,
	span,
	device,
	silence,
	staleBeforeMs,
	atMs,
}: {
	checkKey: string;
	span: Span | undefined;
	device: Device;
	silence: Silence | undefined;
	staleBeforeMs: number;
	atMs: number;
}) {
	if (!span) {
		return (
			<div>
				<Text size="sm" mb={4}>
					{checkLabel(checkKey)}
				</Text>
				<StatusBadge tone="neutral" label="Not reported by then" />
			</div>
		);
	}
	const observedMs = Date.parse(span.last_observed_at);
	const isKnown = !silence && observedMs >= staleBeforeMs;
	const lastAt =
		silence && Date.parse(silence.since) < observedMs
			? silence.since
			: span.last_observed_at;
	return (
		<div>
			<Text size="sm" mb={4}>
				{checkLabel(checkKey)}
			</Text>
			<Group gap="xs">
				<PostureBadge status={span.status} isCurrent={isKnown} />
				<TextLink
					to="/o/$org/devices/$id"
					params={{ org: device.organization_id, id: device.id }}
					search={{
						tab: "reports",
						report:
							observedMs <= atMs ? span.last_report_id : span.first_report_id,
					}}
					size="xs"
					aria-label={`Report: ${checkLabel(checkKey)}`}
				>
					Report
				</TextLink>
			</Group>
			<Text size="xs" c="dimmed" mt={2}>
				{isKnown ? "Since " : "Last observed "}
				<DateTime value={isKnown ? span.since : lastAt} />
			</Text>
		</div>
	);
}
