import { Box, Group, Text } from "@mantine/core";
import { type KeyboardEvent, useState } from "react";
import styles from "./calls-chart.module.css";
import type { DayOfUse } from "./token-words.tsx";

const HEIGHT = 140;
const MAX_STEPS = 4;
/** Every seventh bar has a date below it. More dates would overlap on a phone. */
const DAYS_PER_LABEL = 7;

const DAY = new Intl.DateTimeFormat(undefined, {
	day: "numeric",
	month: "short",
	timeZone: "UTC",
});

/**
 * Draws the calls of each day as stacked bars. The chart works like a slider over the days. When
 * the user points at a bar or presses an arrow key, it shows the numbers of that day as text.
 */
export function CallsChart({ days }: { days: DayOfUse[] }) {
	const [chosen, setChosen] = useState<number | null>(null);
	const last = days.length - 1;
	const ticks = ticksUpTo(Math.max(...days.map(({ calls }) => calls)));
	const top = ticks[ticks.length - 1] ?? 1;
	const y = (calls: number) => HEIGHT * (1 - calls / top);
	const x = (index: number) => `${(index / days.length) * 100}%`;
	const day = chosen === null ? undefined : days[chosen];

	const onKeyDown = (event: KeyboardEvent) => {
		const next = nextDay(event.key, chosen ?? days.length, last);
		if (next === undefined) return;
		event.preventDefault();
		setChosen(next);
	};

	return (
		<Box>
			<div
				className={styles.chart}
				role="slider"
				tabIndex={0}
				aria-label="Day in the chart"
				aria-valuemin={1}
				aria-valuemax={days.length}
				aria-valuenow={(chosen ?? last) + 1}
				aria-valuetext={day ? wordsOf(day) : "No day chosen"}
				onKeyDown={onKeyDown}
				onPointerLeave={() => setChosen(null)}
			>
				<svg
					className={styles.plot}
					width="100%"
					height={HEIGHT + 24}
					aria-hidden="true"
				>
					{ticks.map((tick) => (
						<g key={tick}>
							<line
								className={styles.grid}
								x1="0"
								x2="100%"
								y1={y(tick)}
								y2={y(tick)}
							/>
							<text className={styles.tick} x={-8} y={y(tick) + 4}>
								{tick.toLocaleString()}
							</text>
						</g>
					))}
					{days.map(({ day, calls, errors }, index) => (
						<g key={day} onPointerEnter={() => setChosen(index)}>
							<rect
								className={index === chosen ? styles.chosen : styles.column}
								x={x(index)}
								y={0}
								width={x(1)}
								height={HEIGHT}
							/>
							<rect
								className={styles.succeeded}
								data-bar={day}
								x={x(index + 0.1)}
								y={y(calls)}
								width={x(0.8)}
								height={y(errors) - y(calls)}
							/>
							<rect
								className={styles.failed}
								x={x(index + 0.1)}
								y={y(errors)}
								width={x(0.8)}
								height={HEIGHT - y(errors)}
							/>
							{(last - index) % DAYS_PER_LABEL === 3 && (
								<text
									className={styles.date}
									x={x(index + 0.5)}
									y={HEIGHT + 18}
								>
									{shortDay(day)}
								</text>
							)}
						</g>
					))}
				</svg>
			</div>
			<Group justify="space-between" gap="xs" mt={4}>
				<Text size="xs" c={day ? "bright" : "dimmed"}>
					{day
						? wordsOf(day)
						: "Point at a day or use the arrow keys to read its numbers."}
				</Text>
				<Group gap="md" aria-hidden>
					<Legend className={styles.succeeded} label="Succeeded" />
					<Legend className={styles.failed} label="Failed" />
				</Group>
			</Group>
		</Box>
	);
}

function Legend({
	className,
	label,
}: {
	className: string | undefined;
	label: string;
}) {
	return (
		<Group gap={6} wrap="nowrap">
			<svg width={10} height={10} aria-hidden="true">
				<rect className={className} width={10} height={10} />
			</svg>
			<Text size="xs" c="dimmed">
				{label}
			</Text>
		</Group>
	);
}

/**
 * Returns the round numbers on the axis: 0, followed by at most four equal steps that reach `most`.
 */
function ticksUpTo(most: number): number[] {
	const least = Math.max(1, most) / MAX_STEPS;
	const magnitude = 10 ** Math.floor(Math.log10(least));
	const step = Math.max(
		1,
		[1, 2, 2.5, 5, 10]
			.map((factor) => factor * magnitude)
			.find((size) => size >= least && (size >= 10 || size % 1 === 0)) ?? 1,
	);
	const steps = Math.max(1, Math.ceil(most / step));
	return Array.from({ length: steps + 1 }, (_, index) => index * step);
}

/**
 * Returns the index of the day that a key press moves to. Returns undefined if the key does not
 * move.
 */
function nextDay(key: string, from: number, last: number): number | undefined {
	if (key === "ArrowLeft" || key === "ArrowDown") return Math.max(0, from - 1);
	if (key === "ArrowRight" || key === "ArrowUp") {
		return Math.min(last, from + 1);
	}
	if (key === "Home") return 0;
	if (key === "End") return last;
	return undefined;
}

function shortDay(day: string): string {
	return DAY.format(new Date(`${day}T00:00:00Z`));
}

function wordsOf({ day, calls, errors }: DayOfUse): string {
	const counted = `${calls.toLocaleString()} ${calls === 1 ? "call" : "calls"}`;
	return `${shortDay(day)}: ${counted}, ${errors.toLocaleString()} failed`;
}
