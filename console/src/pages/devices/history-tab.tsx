import {
	Alert,
	Button,
	Group,
	Input,
	Paper,
	SegmentedControl,
	Stack,
	Text,
	TextInput,
	Title,
	VisuallyHidden,
} from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { CHECK_KEYS } from "../../../../src/devices/terms.ts";
import { useChangeSearch } from "../../change-search.ts";
import { dayOf, formatDay, todayHere } from "../../parts/days.ts";
import type { Device } from "../../parts/devices/device-words.tsx";
import { Legend } from "../../parts/devices/posture-bar.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { AsOf } from "./as-of.tsx";
import { checkLabel, inOrder } from "./checks.ts";
import {
	beginOf,
	isInRange,
	momentOnDay,
	RANGES,
	type Range,
	rangeOf,
	readSpans,
	type Silence,
	type Span,
} from "./history.ts";
import { SpanTable } from "./span-table.tsx";
import { Timeline } from "./timeline.tsx";
import { useMaxSilence } from "./use-max-silence.ts";

interface Changes {
	range?: Range;
	at?: string | undefined;
	check?: string | undefined;
}

/** Shows how each check has changed over time, and all states on a chosen day. */
export function HistoryTab({ device }: { device: Device }) {
	const { maxSilenceMs } = useMaxSilence(device);
	const search = useSearch({ from: "/signed-in/o/$org/devices/$id" });
	const changeSearch = useChangeSearch();
	const change = (changes: Changes) =>
		changeSearch((before) => ({ ...before, ...changes }));
	const at = momentOnDay(search.at);
	const range = rangeOf(search.range, device.created_at, at?.getTime());
	const fromMs = beginOf(range, at?.getTime());
	const history = useQuery({
		queryKey: ["listDevicePostures", { device_id: device.id, fromMs }],
		queryFn: ({ signal }) =>
			readSpans(device.id, new Date(fromMs).toISOString(), signal),
		placeholderData: keepPreviousData,
		refetchInterval: 30_000,
	});
	const firstMs = Math.min(
		...(history.data?.spans.map(({ since }) => Date.parse(since)) ?? []),
	);
	// A device that was added yesterday did not exist in the week before, so the week must not look
	// silent.
	const beganInPeriod = !search.range && range === "7d" && firstMs > fromMs;
	return (
		<Stack>
			<Group justify="space-between" align="flex-end">
				<div>
					<Input.Label labelElement="div" id="range" display="block" mb={4}>
						Period
					</Input.Label>
					<SegmentedControl
						aria-labelledby="range"
						value={range}
						onChange={(value) => change({ range: value as Range })}
						data={Object.entries(RANGES).map(([value, { label }]) => ({
							value,
							label,
							// The bars below always show the chosen day.
							disabled:
								value !== range && !isInRange(value as Range, at?.getTime()),
						}))}
					/>
				</div>
				<Group align="flex-end" gap="xs">
					<TextInput
						type="date"
						label="State on the day"
						max={todayHere()}
						value={search.at ?? ""}
						onChange={({ currentTarget: { value } }) =>
							change({ at: value || undefined })
						}
					/>
					{search.at && (
						<Button variant="default" onClick={() => change({ at: undefined })}>
							Clear the day
						</Button>
					)}
				</Group>
			</Group>
			{at && <AsOf device={device} at={at} />}
			{history.isPending && <RowsSkeleton rows={CHECK_KEYS.length} />}
			{history.isError && (
				<ErrorState error={history.error} onRetry={history.refetch} />
			)}
			{history.data && (
				<Histories
					spans={history.data.spans}
					silences={history.data.silences}
					isCut={history.data.isCut}
					fromMs={beganInPeriod ? firstMs : fromMs}
					maxSilenceMs={maxSilenceMs}
					markMs={at?.getTime()}
					opened={search.check}
					onOpen={(check) => change({ check })}
					device={device}
				/>
			)}
		</Stack>
	);
}

function Histories({
	spans,
	silences,
	isCut,
	fromMs,
	maxSilenceMs,
	markMs,
	opened,
	onOpen,
	device,
}: {
	spans: readonly Span[];
	silences: readonly Silence[];
	isCut: boolean;
	fromMs: number;
	maxSilenceMs: number;
	markMs: number | undefined;
	opened: string | undefined;
	onOpen: (check: string | undefined) => void;
	device: Device;
}) {
	const toMs = Date.now();
	const byCheck = Map.groupBy(spans, ({ check_key }) => check_key);
	if (spans.length === 0) {
		return (
			<Paper withBorder p="lg">
				<Text>Nothing was reported in this period.</Text>
				<Text size="sm" c="dimmed">
					Choose a longer period. A device that is not enrolled yet has no
					history.
				</Text>
			</Paper>
		);
	}
	return (
		<Paper withBorder p="md">
			<Stack gap="md">
				<Legend
					parts={["pass", "fail", "unknown", "not_applicable", "stale"]}
				/>
				{isCut && (
					<Alert color="gray" variant="outline">
						Only the latest changes are shown, because there were too many.
						Choose a shorter period.
					</Alert>
				)}
				{inOrder(byCheck.keys())
					.filter((key) => byCheck.has(key))
					.map((key) => {
						const ofCheck = byCheck.get(key) ?? [];
						const isOpen = opened === key;
						const name = checkLabel(key);
						return (
							<section key={key} aria-label={name}>
								<Group justify="space-between" mb={4} gap="xs">
									<Title order={2} fz="sm" fw={500}>
										{name}
									</Title>
									<Button
										variant="default"
										size="compact-xs"
										aria-expanded={isOpen}
										onClick={() => onOpen(isOpen ? undefined : key)}
									>
										Every change <VisuallyHidden>of {name}</VisuallyHidden>
									</Button>
								</Group>
								<Timeline
									name={name}
									spans={ofCheck}
									silences={silences}
									fromMs={fromMs}
									toMs={toMs}
									maxSilenceMs={maxSilenceMs}
									markMs={markMs}
								/>
								{isOpen && (
									<SpanTable
										spans={ofCheck}
										silences={silences}
										device={device}
										name={name}
									/>
								)}
							</section>
						);
					})}
				<Group justify="space-between">
					<Text size="xs" c="dimmed">
						{formatDay(dayOf(new Date(fromMs)))}
					</Text>
					<Text size="xs" c="dimmed">
						Now
					</Text>
				</Group>
			</Stack>
		</Paper>
	);
}
