//! How long it takes to load a large configuration, as a function does while
//! it starts: `cargo run --release --package sekali --example loading [MANY]`.

#![expect(clippy::print_stdout, reason = "it is asked for a number")]
#![expect(clippy::disallowed_methods, reason = "it measures real time")]

use sekali::config::load;
use std::fmt::Write as _;
use std::time::Instant;

/// Endpoints of every shape: with a resource and rules, and of many vendors.
fn endpoints(many: usize) -> Result<String, std::fmt::Error> {
    let mut file = String::new();
    let vendors: Vec<&str> = sekali::vendor::builtin::names().filter(|name| plain(name)).collect();
    for index in 0..many {
        let vendor = vendors[index % vendors.len()];
        writeln!(
            file,
            "[endpoint.e{index}]\nvendor = \"{vendor}\"\nallow_unconfirmed = true\ndedup_window = \"90d\"\n\
             secrets = [\"secretsmanager:prod/{{tenant}}/e{index}\", \"ssm:/prod/{{tenant}}/e{index}\"]\n\
             tenant = \"path\"\n[[endpoint.e{index}.rule]]\ntype = [\"a.one\", \"a.two\"]\n\
             when = {{ \"/data/paid\" = true, \"/data/kind\" = \"order\" }}\n\
             action.act{index} = {{ order = \"/data/order\", amount = \"/data/amount\" }}\n\
             [[endpoint.e{index}.rule]]\ntype = \"*\"\naction.act{index} = {{ order = \"/id\", amount = \"/n\" }}"
        )?;
    }
    file.push_str("[action]\n");
    for index in 0..many {
        writeln!(file, "act{index} = {{ key = [\"order\"], to = \"somewhere\" }}")?;
    }
    file.push_str("[destination]\nsomewhere = { http = \"https://somewhere.example.com/tasks\" }\n");
    Ok(file)
}

/// Whether an endpoint of the vendor needs nothing else to be configured.
fn plain(name: &str) -> bool {
    let file = format!(
        "[endpoint.e]\nvendor = \"{name}\"\nallow_unconfirmed = true\ndedup_window = \"90d\"\n\
         secrets = [\"ssm:/e/{{tenant}}\"]\ntenant = \"path\"\n"
    );
    load(("endpoints.toml", &file), &[]).is_ok()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let many: usize = std::env::args().nth(1).map_or(Ok(300), |many| many.parse())?;
    let file = endpoints(many)?;
    let mut times = Vec::new();
    for _ in 0..20 {
        let begun = Instant::now();
        let config = load(("endpoints.toml", &file), &[]);
        times.push(begun.elapsed());
        let found = config
            .map(|config| config.endpoints.len())
            .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
        if found != many {
            return Err(format!("{found} endpoints were read").into());
        }
    }
    // The first is what a start costs: nothing is in a cache yet.
    let first = times[0];
    times.sort_unstable();
    println!(
        "{many} endpoints, {} KiB: the first time {:.1} ms, the median of {} {:.1} ms",
        file.len() / 1024,
        first.as_secs_f64() * 1000.0,
        times.len(),
        times[times.len() / 2].as_secs_f64() * 1000.0
    );
    Ok(())
}
