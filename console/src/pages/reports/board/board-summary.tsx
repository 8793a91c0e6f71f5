import { Alert, Text, Title } from "@mantine/core";
import { useId } from "react";
import { formatDay } from "../../../parts/days.ts";
import { TrendPlot } from "../../../parts/plots/trend-plot.tsx";
import styles from "./board.module.css";
import {
	type Board,
	type BoardSection,
	type Comparison,
	changeOf,
	figureInWords,
} from "./board.ts";
import { ChangeMark } from "./change-mark.tsx";
import { markInWords } from "./compared-text.ts";
import { Decisions } from "./decisions.tsx";

/** Shows the summary on one page: where we stand, what changed, twelve months, and decisions. */
export function BoardSummary({ board }: { board: Board }) {
	const { key, trends, sections, decisions, comparedWith } = board;
	return (
		<div className={styles.board}>
			{comparedWith === null && (
				<Alert color="indigo" variant="outline" title="Nothing to compare with">
					The records of this organization are known since today. From tomorrow
					on, this page shows what changed.
				</Alert>
			)}
			<Part title="Where we stand">
				<ul className={styles.tiles}>
					{key.map((figure) => (
						<Tile key={figure.label} figure={figure} board={board} />
					))}
				</ul>
			</Part>
			<Part title="Needs a decision">
				<Decisions decisions={decisions} />
			</Part>
			{trends.length > 0 && (
				<Part title="Twelve months">
					<div className={styles.trends}>
						{trends.map((trend) => (
							<TrendPlot key={trend.label} trend={trend} />
						))}
					</div>
				</Part>
			)}
			<div className={styles.sections}>
				{sections.map((section) => (
					<Part key={section.title} title={section.title}>
						<Figures section={section} board={board} />
						{section.hasBars && comparedWith && (
							<Text size="xs" c="dimmed" mt={4}>
								{markInWords(comparedWith)}
							</Text>
						)}
						{section.note && (
							<Text size="xs" c="dimmed" mt={4}>
								{section.note}
							</Text>
						)}
					</Part>
				))}
			</div>
		</div>
	);
}

function Part({
	title,
	children,
}: {
	title: string;
	children: React.ReactNode;
}) {
	const id = useId();
	return (
		<section aria-labelledby={id} className={styles.part}>
			<Title order={2} id={id} mb="xs">
				{title}
			</Title>
			{children}
		</section>
	);
}

function Tile({ figure, board }: { figure: Comparison; board: Board }) {
	const { label, now, before, unit, detail } = figure;
	return (
		<li className={styles.tile}>
			<Text size="sm">{label}</Text>
			<Text fw={600} fz={26} lh={1.25} className="figures">
				{figureInWords(now, unit)}
			</Text>
			{detail && (
				<Text size="xs" c="dimmed">
					{detail}
				</Text>
			)}
			{board.comparedWith !== null && (
				<Text size="sm" mt={4}>
					<ChangeMark change={changeOf(figure)} />
					{before !== null && (
						<Text span size="xs" c="dimmed" display="block">
							{figureInWords(before, unit)} on {formatDay(board.comparedWith)}
						</Text>
					)}
				</Text>
			)}
		</li>
	);
}

function Figures({ section, board }: { section: BoardSection; board: Board }) {
	const { title, rows, hasBars } = section;
	const { comparedWith } = board;
	return (
		<table className={styles.figures} aria-label={title}>
			<thead>
				<tr>
					<th scope="col">Figure</th>
					<th scope="col" data-figure>
						Now
					</th>
					{comparedWith && (
						<>
							<th scope="col" data-figure>
								{formatDay(comparedWith)}
							</th>
							<th scope="col">Change</th>
						</>
					)}
				</tr>
			</thead>
			<tbody>
				{rows.map((row) => (
					<tr key={row.label}>
						<th scope="row">
							<span className={styles.name}>{row.label}</span>
							{row.detail && (
								<span className={styles.detail}>{row.detail}</span>
							)}
							{hasBars && <Bar figure={row} />}
						</th>
						<td data-figure>{figureInWords(row.now, row.unit)}</td>
						{comparedWith && (
							<>
								<td data-figure>{figureInWords(row.before, row.unit)}</td>
								<td>
									<ChangeMark change={changeOf(row)} />
								</td>
							</>
						)}
					</tr>
				))}
			</tbody>
		</table>
	);
}

/** Draws the figure as a bar, and the earlier one as a mark on it. The row has both in words. */
function Bar({
	figure: { now, before, top = 100, color },
}: {
	figure: Comparison;
}) {
	const share = (value: number) => (value / top) * 100;
	return (
		<svg
			className={styles.bar}
			viewBox="0 0 100 8"
			preserveAspectRatio="none"
			aria-hidden="true"
		>
			<rect className={styles.track} width="100" height="8" />
			<rect
				className={styles.fill}
				width={share(now ?? 0)}
				height="8"
				{...(color && { style: { fill: color } })}
			/>
			{before !== null && (
				<line
					className={styles.mark}
					x1={share(before)}
					x2={share(before)}
					y1="0"
					y2="8"
				/>
			)}
		</svg>
	);
}
