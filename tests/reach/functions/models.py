"""Functions of groups that fit models: regressions, forecasts, clusters, with and without errors."""

# ruff: noqa
# mypy: ignore-errors
from __future__ import annotations

import logging
import os

import numpy as np
import pandas as pd


logger = logging.getLogger("forecasting")

SENSOR_FEATURES = ["temperature", "vibration", "pressure"]
HORIZON_DAYS = 14
MIN_HISTORY = 5
MODEL_DIR = "/mnt/models"


def price_elasticity(pdf):
    """log-log regression of units on price, one line per product"""
    from sklearn.linear_model import LinearRegression

    pdf = pdf[(pdf["price"] > 0) & (pdf["units"] > 0)]
    if len(pdf) < MIN_HISTORY:
        return pd.DataFrame(columns=["sku", "elasticity", "intercept", "r2", "n_obs"])
    X = np.log(pdf[["price"]])
    y = np.log(pdf["units"])
    model = LinearRegression()
    model.fit(X, y)
    return pd.DataFrame(
        {
            "sku": [pdf["sku"].iloc[0]],
            "elasticity": [float(model.coef_[0])],
            "intercept": [float(model.intercept_)],
            "r2": [float(model.score(X, y))],
            "n_obs": [len(pdf)],
        }
    )


def churn_by_segment(key, pdf):
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    features = ["tenure_months", "monthly_charges", "support_calls"]
    X = pdf[features].fillna(0)
    y = pdf["churned"].astype(int)
    if y.nunique() < 2:
        pdf["churn_score"] = y.mean()
    else:
        pipe = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
        pipe.fit(X, y)
        pdf["churn_score"] = pipe.predict_proba(X)[:, 1]
    out = pdf[["customer_id", "churn_score"]].copy()
    out["segment"] = key[0]
    return out[["segment", "customer_id", "churn_score"]]


def sensor_trend(key, pdf):
    site_id, device_id = key
    pdf = pdf.sort_values("measured_at")
    t = (pdf["measured_at"] - pdf["measured_at"].iloc[0]).dt.total_seconds() / 3600.0
    try:
        slope, intercept = np.polyfit(t, pdf["temperature"], 1)
    except (np.linalg.LinAlgError, TypeError, ValueError) as e:
        logger.warning("no trend for %s/%s: %s", site_id, device_id, e)
        slope, intercept = np.nan, np.nan
    return pd.DataFrame(
        [[site_id, device_id, slope, intercept, len(pdf)]],
        columns=["site_id", "device_id", "slope", "intercept", "n"],
    )


def capm_beta(pdf):
    import statsmodels.api as sm

    pdf = pdf.dropna(subset=["ret", "market_ret"])
    exog = sm.add_constant(pdf["market_ret"])
    fitted = sm.OLS(pdf["ret"], exog).fit()
    return pd.DataFrame(
        [
            {
                "ticker": pdf["ticker"].iloc[0],
                "alpha": fitted.params["const"],
                "beta": fitted.params["market_ret"],
                "p_value": fitted.pvalues["market_ret"],
                "r_squared": fitted.rsquared,
            }
        ]
    )


def prophet_forecast(history):
    from prophet import Prophet

    store, item = history["store"].iloc[0], history["item"].iloc[0]
    df = history[["date", "sales"]].rename(columns={"date": "ds", "sales": "y"})
    m = Prophet(weekly_seasonality=True, interval_width=0.9)
    m.add_country_holidays(country_name="US")
    m.fit(df)
    future = m.make_future_dataframe(periods=HORIZON_DAYS)
    forecast = m.predict(future)
    result = forecast[["ds", "yhat", "yhat_lower", "yhat_upper"]]
    result["store"] = store
    result["item"] = item
    return result[["ds", "store", "item", "yhat", "yhat_lower", "yhat_upper"]]


def cluster_customers(pdf):
    from sklearn.cluster import KMeans

    n = min(4, len(pdf))
    km = KMeans(n_clusters=n, random_state=42, n_init=10)
    pdf["cluster"] = km.fit_predict(pdf[["recency", "frequency", "monetary"]].values)
    return pdf


def machine_anomalies(pdf):
    from sklearn.ensemble import IsolationForest

    X = pdf[SENSOR_FEATURES].ffill().fillna(0)
    forest = IsolationForest(contamination=0.05, random_state=0).fit(X)
    pdf = pdf.assign(score=forest.decision_function(X), is_anomaly=forest.predict(X) == -1)
    return pdf[pdf["is_anomaly"]][["machine_id", "ts", "score", "is_anomaly"]]


def holt_winters_or_mean(key, pdf):
    """demand for the coming two weeks; the mean if the model does not converge"""
    from statsmodels.tsa.holtwinters import ExponentialSmoothing

    series = pdf.set_index("day")["orders"].sort_index()
    try:
        fit = ExponentialSmoothing(series, trend="add", seasonal="add", seasonal_periods=7).fit()
        values = fit.forecast(HORIZON_DAYS).values
    except Exception as exc:
        print(f"{key}: falling back to the mean ({exc})")
        values = np.repeat(series.mean(), HORIZON_DAYS)
    days = pd.date_range(pdf["day"].max(), periods=HORIZON_DAYS + 1)[1:]
    return pd.DataFrame({"city": key[0], "courier": key[1], "day": days, "orders": values})


def boosted_backtest(pdf):
    import lightgbm as lgb
    from sklearn.metrics import mean_absolute_error

    pdf = pdf.sort_values("hour")
    cut = int(len(pdf) * 0.8)
    train, test = pdf.iloc[:cut], pdf.iloc[cut:]
    cols = ["temp", "wind", "is_holiday", "lag_24", "lag_168"]
    booster = lgb.LGBMRegressor(n_estimators=200, learning_rate=0.05)
    booster.fit(train[cols], train["load_mw"])
    pred = booster.predict(test[cols])
    out = pd.DataFrame()
    out["hour"] = test["hour"]
    out["grid_zone"] = pdf["grid_zone"].iloc[0]
    out["actual"] = test["load_mw"].values
    out["predicted"] = pred
    out["mae"] = mean_absolute_error(test["load_mw"], pred)
    return out


def train_and_store(key, pdf):
    import joblib
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(n_estimators=50, n_jobs=1)
    forest.fit(pdf[["mileage", "age", "engine_size"]], pdf["price"])
    path = os.path.join(MODEL_DIR, f"{key[0]}.joblib")
    joblib.dump(forest, path)
    return pd.DataFrame({"brand": [key[0]], "path": [path], "rows": [len(pdf)]})


def marketing_mix(pdf):
    """ordinary least squares by hand, as scipy is not on the cluster"""
    channels = ["tv", "search", "social"]
    A = np.column_stack([np.ones(len(pdf))] + [np.log1p(pdf[c].fillna(0)) for c in channels])
    b = pdf["revenue"].fillna(0).to_numpy()
    beta, _, rank, _ = np.linalg.lstsq(A, b, rcond=None)
    rows = []
    for i, name in enumerate(["base"] + channels):
        rows.append((pdf["market"].iloc[0], name, float(beta[i]), int(rank)))
    return pd.DataFrame(rows, columns=["market", "channel", "weight", "rank"])


def pickled_model(key, pdf):
    import pickle

    from sklearn.linear_model import Ridge

    model = Ridge(alpha=1.0).fit(pdf[["sqm", "rooms"]], pdf["rent"])
    return pd.DataFrame([key + (pickle.dumps(model),)], columns=["zip", "model"])


def logged_experiment(key, pdf):
    import mlflow
    from sklearn.linear_model import ElasticNet

    with mlflow.start_run(run_name=f"dose-{key[0]}"):
        model = ElasticNet(alpha=0.1).fit(pdf[["dose", "weight_kg"]], pdf["response"])
        score = model.score(pdf[["dose", "weight_kg"]], pdf["response"])
        mlflow.log_metric("r2", score)
    return pd.DataFrame({"drug": [key[0]], "r2": [score]})
