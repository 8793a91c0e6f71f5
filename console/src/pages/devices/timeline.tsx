import { Text, Tooltip } from "@mantine/core";
import { postureLabel } from "../../parts/devices/device-words.tsx";
import styles from "../../parts/devices/postures.module.css";
import { DateTime } from "../../parts/time.tsx";
import { type Piece, piecesOf, type Silence, type Span } from "./history.ts";

const CLASSES: Record<Piece["status"], string | undefined> = {
	PASS: styles.pass,
	FAIL: styles.fail,
	UNKNOWN: styles.unknown,
	NOT_APPLICABLE: styles.notApplicable,
	SILENT: styles.stale,
};

/**
 * Draws the states of one check in a period as a bar, with a summary as text. The table below the
 * bar lists every span as text.
 */
export function Timeline({
	name,
	spans,
	silences,
	fromMs,
	toMs,
	maxSilenceMs,
	markMs,
}: {
	name: string;
	spans: readonly Span[];
	silences: readonly Silence[];
	fromMs: number;
	toMs: number;
	maxSilenceMs: number;
	/** A time to mark on the bar. */
	markMs: number | undefined;
}) {
	const pieces = piecesOf(spans, silences, fromMs, toMs, maxSilenceMs);
	// Without a state, the bar would be an empty frame.
	if (pieces.length === 0) {
		return (
			<Text size="sm" c="dimmed">
				Nothing was reported in this period.
			</Text>
		);
	}
	const percent = (ms: number) => ((ms - fromMs) / (toMs - fromMs)) * 100;
	return (
		<div
			className={styles.track}
			role="img"
			aria-label={summaryOf(name, pieces)}
		>
			{pieces.map((piece) => (
				<Tooltip.Floating
					key={`${piece.since} ${piece.status}`}
					label={<Words piece={piece} />}
				>
					<div
						className={`${styles.span} ${CLASSES[piece.status]}`}
						data-status={piece.status}
						style={{
							// The current time is at the right edge, so the mark is moved left by its own width
							// to stay visible.
							left: `min(${percent(piece.fromMs)}%, 100% - 4px)`,
							width: `${percent(piece.toMs) - percent(piece.fromMs)}%`,
						}}
					/>
				</Tooltip.Floating>
			))}
			{markMs !== undefined && markMs > fromMs && markMs <= toMs && (
				<div
					className={styles.marker}
					style={{ left: `${percent(markMs)}%` }}
				/>
			)}
		</div>
	);
}

function Words({ piece: { status, since, until } }: { piece: Piece }) {
	return (
		<>
			<Text size="sm" fw={600}>
				{stateLabel(status)}
			</Text>
			<Text size="xs">
				{status === "SILENT" ? "Last report " : "Since "}
				<DateTime value={since} />
			</Text>
			{until && (
				<Text size="xs">
					{status === "SILENT" ? "Next report " : "Until "}
					<DateTime value={until} />
				</Text>
			)}
		</>
	);
}

function stateLabel(status: Piece["status"]): string {
	return status === "SILENT" ? "Silent" : postureLabel(status);
}

/** Returns a summary such as "Host firewall: pass 80%, silent 20%; now pass". */
function summaryOf(name: string, pieces: readonly Piece[]): string {
	const last = pieces.at(-1);
	if (!last) return name;
	const all = pieces.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
	const times = new Map<Piece["status"], number>();
	for (const { status, fromMs, toMs } of pieces) {
		times.set(status, (times.get(status) ?? 0) + toMs - fromMs);
	}
	const shares = [...times].map(([status, ms]) => {
		const share = (ms / all) * 100;
		return `${stateLabel(status).toLowerCase()} ${share < 1 ? "under 1" : Math.round(share)}%`;
	});
	return `${name}: ${shares.join(", ")}; at the end ${stateLabel(last.status).toLowerCase()}`;
}
