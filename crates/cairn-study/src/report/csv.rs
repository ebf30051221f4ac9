//! Tables as CSV (RFC 4180): all digits, a column of its own for published numbers, nothing for what is missing.

use super::document::Table;

pub(super) fn render(table: &Table) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut head = vec![table.label.clone()];
    for column in &table.columns {
        head.push(column.name.clone());
        if column.published {
            head.push(format!("{}, published", column.name));
        }
    }
    let mut records = vec![head];
    for row in &table.rows {
        let mut record = vec![row.label.clone()];
        for (value, column) in row.values.iter().zip(&table.columns) {
            let text = |v: Option<f64>| v.map(|v| v.to_string()).unwrap_or_default();
            record.push(text(value.ours));
            if column.published {
                record.push(text(value.published));
            }
        }
        records.push(record);
    }
    for record in records {
        writer.write_record(record).expect("writing to memory does not fail");
    }
    String::from_utf8(writer.into_inner().expect("writing to memory does not fail")).expect("made of strings")
}

#[cfg(test)]
mod tests {
    use super::super::document::Item;
    use super::super::tests::sample;

    #[test]
    fn a_table_as_csv() {
        let report = sample();
        let Item::Table(table) = &report.sections[0].items[1] else { panic!("the sample's second item") };
        let expected =
            "program,time (s),\"time (s), published\",memory (KB)\nlife & death,1.234,2,12345\nlogic,,3.5,\n";
        assert_eq!(super::render(table), expected);
    }
}
