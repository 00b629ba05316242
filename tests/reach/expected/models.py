"""What a person expects of the functions in ``functions/models.py``."""

from __future__ import annotations

from tests.reach.entries import Entry
from tests.reach.jobs import job

models = job("models")

_SKLEARN = "scikit-learn is not installed"
_STATSMODELS = "statsmodels is not installed"

ENTRIES = [
    Entry(
        models.price_elasticity,
        "regression of log units on log price",
        "sku string, price double, units double, store string, promo boolean, day date",
        "sku string, elasticity double, intercept double, r2 double, n_obs bigint",
        by="sku",
        keys="sku",
        reads="sku price units",
        analysed_only=_SKLEARN,
    ),
    Entry(
        models.churn_by_segment,
        "logistic regression, a score for each customer",
        "segment string, customer_id bigint, tenure_months int, monthly_charges double, "
        "support_calls int, churned boolean, email string, signup date",
        "segment string, customer_id bigint, churn_score double",
        by="segment",
        keys="segment",
        reads="customer_id tenure_months monthly_charges support_calls churned",
        analysed_only=_SKLEARN,
    ),
    Entry(
        models.sensor_trend,
        "slope of a line through the readings",
        "site_id string, device_id bigint, measured_at timestamp, temperature double, "
        "humidity double, firmware string",
        "site_id string, device_id bigint, slope double, intercept double, n bigint",
        by="site_id device_id",
        keys="site_id device_id",
        reads="measured_at temperature",
        effects="message",
    ),
    Entry(
        models.capm_beta,
        "regression of a stock on the market",
        "ticker string, day date, ret double, market_ret double, volume bigint, currency string",
        "ticker string, alpha double, beta double, p_value double, r_squared double",
        by="ticker",
        keys="ticker",
        reads="ticker ret market_ret",
        analysed_only=_STATSMODELS,
    ),
    Entry(
        models.prophet_forecast,
        "forecast of daily sales",
        "store int, item int, date date, sales double, onpromotion int, price double",
        "ds timestamp, store int, item int, yhat double, yhat_lower double, yhat_upper double",
        by="store item",
        keys="store item",
        reads="store item date sales",
        analysed_only="prophet is not installed",
    ),
    Entry(
        models.cluster_customers,
        "k-means within each region",
        "region string, customer_id bigint, recency int, frequency int, monetary double",
        "region string, customer_id bigint, recency int, frequency int, monetary double, "
        "cluster int",
        by="region",
        keys="region",
        analysed_only=_SKLEARN,
    ),
    Entry(
        models.machine_anomalies,
        "isolation forest, rows that stand out",
        "machine_id string, ts timestamp, temperature double, vibration double, pressure double, "
        "operator string, line string",
        "machine_id string, ts timestamp, score double, is_anomaly boolean",
        by="machine_id",
        keys="machine_id",
        reads="machine_id ts temperature vibration pressure",
        analysed_only=_SKLEARN,
    ),
    Entry(
        models.holt_winters_or_mean,
        "exponential smoothing, the mean where it fails",
        "city string, courier string, day timestamp, orders double, returns double, rating double",
        "city string, courier string, day timestamp, orders double",
        by="city courier",
        keys="city courier",
        reads="day orders",
        effects="message",
        analysed_only=_STATSMODELS,
    ),
    Entry(
        models.boosted_backtest,
        "boosted trees, tested on the last fifth",
        "grid_zone string, hour timestamp, load_mw double, temp double, wind double, "
        "is_holiday boolean, lag_24 double, lag_168 double, source string, updated timestamp",
        "hour timestamp, grid_zone string, actual double, predicted double, mae double",
        by="grid_zone",
        keys="grid_zone",
        reads="grid_zone hour load_mw temp wind is_holiday lag_24 lag_168",
        analysed_only="lightgbm is not installed",
    ),
    Entry(
        models.train_and_store,
        "fits a forest and writes it to a file",
        "brand string, mileage double, age int, engine_size double, price double, seller string",
        "brand string, path string, rows bigint",
        by="brand",
        keys="brand",
        reads="mileage age engine_size price",
        effects="effect",
        analysed_only=_SKLEARN,
    ),
    Entry(
        models.marketing_mix,
        "least squares by numpy, a row for each channel",
        "market string, week date, tv double, search double, social double, revenue double, "
        "agency string",
        "market string, channel string, weight double, rank bigint",
        by="market",
        keys="market",
        reads="market tv search social revenue",
    ),
    Entry(
        models.pickled_model,
        "a model as bytes in a column",
        "zip string, sqm double, rooms int, rent double, landlord string",
        "zip string, model binary",
        by="zip",
        keys="zip",
        reads="sqm rooms rent",
        analysed_only=_SKLEARN,
    ),
    Entry(
        models.logged_experiment,
        "fits a model and logs its score to a server",
        "drug string, dose double, weight_kg double, response double, patient string",
        "drug string, r2 double",
        by="drug",
        keys="drug",
        reads="dose weight_kg response",
        effects="effect",
        analysed_only="mlflow is not installed",
    ),
]
