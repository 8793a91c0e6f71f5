import { NOTHING, type ReportTable } from "../report.ts";
import { type Board, type Comparison, changeOf } from "./board.ts";

/** Returns the summary as tables for CSV and Excel. Differences are numbers there. */
export function tablesOf(board: Board): ReportTable[] {
	const { today, comparedWith, key, sections, trends, decisions } = board;
	const before = comparedWith ?? "Before";
	const rowOf = (part: string, row: Comparison) => {
		const change = changeOf(row);
		return [
			part,
			row.unit === "%" ? `${row.label}, %` : row.label,
			row.now ?? NOTHING,
			row.before ?? NOTHING,
			change?.difference ?? NOTHING,
			change?.text ?? NOTHING,
			row.detail ?? NOTHING,
		];
	};
	return [
		{
			title: "Figures",
			columns: [
				"Part",
				"Figure",
				today,
				before,
				"Difference",
				"Change",
				"Detail",
			],
			rows: [
				...key.map((row) => rowOf("Summary", row)),
				...sections.flatMap(({ title, rows }) =>
					rows.map((row) => rowOf(title, row)),
				),
			],
		},
		{
			title: "Needs a decision",
			columns: ["Decision", "Number", "First ones"],
			rows: decisions.map(({ text, count, names }) => [
				text,
				count,
				names.join("; ") || NOTHING,
			]),
		},
		...(trends[0]
			? [
					{
						title: "Twelve months",
						columns: [
							"Day",
							...trends.map(({ label, unit, outOf }) =>
								[label, unit, outOf && `of ${outOf}`]
									.filter(Boolean)
									.join(", "),
							),
						],
						rows: trends[0].points.map(({ day }, at) => [
							{ day },
							...trends.map(({ points }) => points[at]?.value ?? NOTHING),
						]),
					},
				]
			: []),
	];
}
